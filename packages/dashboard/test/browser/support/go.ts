import type { Page } from "playwright-core";

/** To another page of the app as a link of it would lead there: nothing is loaded again. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
}
