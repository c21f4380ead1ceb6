import type { Page } from "playwright-core";

/** Window sizes and themes. */
export interface Look {
  name: string;
  colorScheme: "light" | "dark";
  viewport: { width: number; height: number };
}

export const wide = { width: 1280, height: 900 };
export const narrow = { width: 390, height: 844 };

export const desktop: Look = { name: "desktop", colorScheme: "light", viewport: wide };
const phone: Look = { name: "phone", colorScheme: "dark", viewport: narrow };
export const bothLooks: readonly Look[] = [desktop, phone];

/** Applies the look from now on. */
export async function take(page: Page, { colorScheme, viewport }: Look): Promise<void> {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
}
