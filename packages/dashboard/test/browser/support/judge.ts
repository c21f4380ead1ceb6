import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const axe = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
/** Rules whose findings are never serious are not run; nothing is fetched for them either. */
const options = `{
  resultTypes: ["violations"],
  preload: false,
  rules: Object.fromEntries(
    axe._audit.rules
      .filter(({ impact }) => impact === "minor" || impact === "moderate")
      .map(({ id }) => [id, { enabled: false }]),
  ),
}`;

/**
 * Nothing that the accessibility checker calls serious or worse, on the page or in a part of it. By `evaluate`, which the
 * page's policy does not bind.
 */
export async function expectAccessible(page: Page, within = "html"): Promise<void> {
  const isLoaded = await page.evaluate("typeof axe === 'object'");
  if (!isLoaded) await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>(`axe.run("${within}", ${options})`);
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const words = grave.map(({ id, help, nodes }) => ({ id, help, where: nodes.slice(0, 5).map(({ html }) => html) }));
  expect(words, `${page.url()} at ${page.viewportSize()?.width} px`).toEqual([]);
}

/** Nothing widens the page beyond its window. */
export async function expectFitting(page: Page): Promise<void> {
  const excess = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  expect(excess, `${page.url()} is wider than the window`).toBe(0);
}

/** Both, as it is looked at. */
export async function expectGood(page: Page, within = "html"): Promise<void> {
  await expectFitting(page);
  await expectAccessible(page, within);
}
