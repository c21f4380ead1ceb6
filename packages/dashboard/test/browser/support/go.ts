import type { Page } from "playwright-core";

/** Navigates within the app, as a link would: without a reload. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
}
