import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const axe = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
/** Rules whose findings are never serious are skipped. Preloading is off too. */
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
 * The accessibility checker finds nothing serious or worse, on the page or in a part of it. Uses `evaluate`, which the page's
 * content security policy does not restrict.
 */
export async function expectAccessible(page: Page, within = "html"): Promise<void> {
  const isLoaded = await page.evaluate("typeof axe === 'object'");
  if (!isLoaded) await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>(`axe.run("${within}", ${options})`);
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const words = grave.map(({ id, help, nodes }) => ({ id, help, where: nodes.slice(0, 5).map(({ html }) => html) }));
  expect(words, `${page.url()} at ${page.viewportSize()?.width} px`).toEqual([]);
}

/** Nothing makes the page wider than its window. */
export async function expectFitting(page: Page): Promise<void> {
  const excess = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  expect(excess, `${page.url()} is wider than the window`).toBe(0);
}

/** Both checks, in the current look. */
export async function expectGood(page: Page, within = "html"): Promise<void> {
  await expectFitting(page);
  await expectAccessible(page, within);
}

/** Runs in every document: sums layout shifts like the Web Vitals (windows of 5 s, gaps of 1 s). */
const watch = `
  window.shifts = { worst: 0, from: "", sum: 0, first: 0, last: 0 };
  new PerformanceObserver((list) => {
    for (const { value, startTime, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const now = window.shifts;
      const goesOn = startTime - now.last < 1000 && startTime - now.first < 5000;
      now.sum = goesOn ? now.sum + value : value;
      if (!goesOn) now.first = startTime;
      now.last = startTime;
      if (now.sum <= now.worst) continue;
      now.worst = now.sum;
      now.from = sources.map(({ node, previousRect: a, currentRect: b }) =>
        (node?.outerHTML ?? node?.textContent ?? "").slice(0, 120) + " " + [a.x, a.y, b.x, b.y].map(Math.round)).join("\\n");
    }
  }).observe({ type: "layout-shift", buffered: true });
`;
const shiftMax = 0.05;

/** From now on, in this document and those that it loads. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(watch);
  await page.evaluate(watch);
}

export async function forgetShifts(page: Page): Promise<void> {
  await page.evaluate("Object.assign(window.shifts, { worst: 0, from: '', sum: 0, first: 0, last: 0 })");
}

/** The page has shifted little since it was opened, or since the last call. */
export async function expectSteady(page: Page, max = shiftMax): Promise<void> {
  const { worst, from } = await page.evaluate<{ worst: number; from: string }>("({ ...window.shifts })");
  await forgetShifts(page);
  if (process.env.EMEND_MEASURE) console.log(`layout shift ${worst.toFixed(4)} ${page.url()} ${from}`);
  expect(worst, `${page.url()} moves at ${page.viewportSize()?.width} px: ${from}`).toBeLessThanOrEqual(max);
}
