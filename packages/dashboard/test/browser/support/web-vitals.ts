import type { Page } from "playwright-core";

/** The most that a page may move while it loads: a fifth of what the Web Vitals call good. */
export const shiftMax = 0.02;

const nothing = '{ worst: 0, from: "", sum: 0, first: 0, last: 0, moved: [] }';
/** Runs in every document: sums layout shifts like the Web Vitals (windows of 5 s, gaps of 1 s), and notes the largest paint. */
const watch = `
  window.shifts = ${nothing};
  new PerformanceObserver((list) => {
    for (const { value, startTime, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const now = window.shifts;
      const goesOn = startTime - now.last < 1000 && startTime - now.first < 5000;
      now.sum = goesOn ? now.sum + value : value;
      if (!goesOn) Object.assign(now, { first: startTime, moved: [] });
      now.last = startTime;
      for (const { node, previousRect: a, currentRect: b } of sources) now.moved.push(
        value.toFixed(3) + " " + (node?.outerHTML ?? node?.textContent ?? "").slice(0, 120) + " " + [a.x, a.y, b.x, b.y].map(Math.round));
      if (now.sum <= now.worst) continue;
      now.worst = now.sum;
      now.from = now.moved.join("\\n");
    }
  }).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => {
    window.largestPaintMs = list.getEntries().at(-1).startTime;
  }).observe({ type: "largest-contentful-paint", buffered: true });
`;

/** From now on, in this document and those that it loads. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(watch);
  await page.evaluate(watch);
}

export async function forgetShifts(page: Page): Promise<void> {
  await page.evaluate(`Object.assign(window.shifts, ${nothing})`);
}

/** The worst since the page was opened or since the last call, and the elements that moved. */
export async function takeShifts(page: Page): Promise<{ worst: number; from: string }> {
  const shifts = await page.evaluate<{ worst: number; from: string }>("({ ...window.shifts })");
  await forgetShifts(page);
  return shifts;
}

/** From the request of this document to its largest paint so far. */
export function largestPaintMs(page: Page): Promise<number> {
  return page.evaluate<number>("window.largestPaintMs ?? 0");
}
