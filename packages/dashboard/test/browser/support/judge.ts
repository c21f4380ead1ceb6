import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { shiftMax, takeShifts } from "./web-vitals.ts";

const axe = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const options = '{ resultTypes: ["violations"], preload: false }';

/**
 * The accessibility checker finds nothing, on the page or in a part of it. Uses `evaluate`, which the page's content
 * security policy does not restrict.
 */
export async function expectAccessible(page: Page, within = "html"): Promise<void> {
  const isLoaded = await page.evaluate("typeof axe === 'object'");
  if (!isLoaded) await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>(`axe.run("${within}", ${options})`);
  const words = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    where: nodes.slice(0, 5).map(({ html }) => html),
  }));
  expect(words, `${page.url()} at ${page.viewportSize()?.width} px`).toEqual([]);
}

/** Nothing makes the page wider than its window. */
export async function expectFitting(page: Page): Promise<void> {
  const excess = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  expect(excess, `${page.url()} is wider than the window`).toBeLessThanOrEqual(0);
}

/** Both checks, in the current look. */
export async function expectGood(page: Page, within = "html"): Promise<void> {
  await expectFitting(page);
  await expectAccessible(page, within);
}

/** The page's headings leave out no level. */
export async function expectOutline(page: Page): Promise<void> {
  const levels = await page.evaluate<number[]>(
    "[...document.querySelectorAll('main :is(h1, h2, h3, h4, h5, h6)')].map(({ tagName }) => Number(tagName[1]))",
  );
  const left = levels.filter((level, at) => at > 0 && level > (levels[at - 1] ?? 0) + 1);
  expect(left, `${page.url()} has headings of the levels ${levels}`).toEqual([]);
}

/** The page has shifted little since it was opened, or since the last call. */
export async function expectSteady(page: Page, max = shiftMax): Promise<void> {
  const { worst, from } = await takeShifts(page);
  if (process.env.EMEND_MEASURE) console.log(`layout shift ${worst.toFixed(4)} ${page.url()} ${from}`);
  expect(worst, `${page.url()} moves at ${page.viewportSize()?.width} px: ${from}`).toBeLessThanOrEqual(max);
}
