// Costly: browsers disagree with any parser about addresses, and they are what an attack meets.
import { readFile, writeFile } from "node:fs/promises";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { sharedChromium } from "./support/launch-chromium.ts";

/**
 * How a real browser interprets each form of address. Another test, without a browser, compares the review with this table.
 * `RECORD_ADDRESSES=1 npm run test:browser -- address-forms` writes it again.
 */
const file = new URL("../../../review/test/fixtures/address-forms.json", import.meta.url);
interface Table {
  about: string;
  recorded: { chromium: string; date: string };
  forms: { html: string; asks: readonly string[]; runs: boolean }[];
}
const table: Table = JSON.parse(await readFile(file, "utf8"));
const home = "https://docs.invalid";
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  const place = inject("browser");
  if ("problem" in place) throw new Error(place.problem);
  browser = await sharedChromium(place.found);
  context = await browser.newContext({ ignoreHTTPSErrors: true });
});
afterAll(() => context?.close());

interface Found {
  asks: readonly string[];
  runs: boolean;
}

/** Renders forms one after another: follows every link and submits every form of each. Nothing leaves the machine. */
async function openRenderer(): Promise<(html: string) => Promise<Found>> {
  const page = await context.newPage();
  let [form, asks, runs] = ["", new Set<string>(), false];
  page.on("console", (message) => {
    if (message.text() === "a script ran") runs = true;
  });
  page.on("dialog", (dialog) => void dialog.dismiss().catch(() => undefined));
  await page.route("**/*", async (route) => {
    const { origin, hostname, pathname } = new URL(route.request().url());
    if (origin !== home) asks.add(hostname);
    if (origin !== home) return route.fulfill({ status: 204 });
    if (pathname !== "/") return route.fulfill({ status: 404 });
    return route.fulfill({ contentType: "text/html; charset=utf-8", body: form });
  });
  const listener = `<script>addEventListener("message", () => console.log("a script ran"))</script>`;
  const follow = `for (const one of document.querySelectorAll("a, area, button, input[type=submit]")) {
    one.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
  }`;
  const turn = "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 10)))";
  return async (html) => {
    await page.goto("about:blank");
    [form, asks, runs] = [`<!doctype html>${listener}<body>${html}`, new Set(), false];
    await page.goto(home, { waitUntil: "load" });
    await page.evaluate(follow).catch(() => undefined);
    // Frames, posts and requests use the same queues, so they come before the last of these turns.
    for (let round = 0; round < 5; round += 1) await page.evaluate(turn).catch(() => undefined);
    return { asks: [...asks].sort(), runs };
  };
}

/** All of them for `npm run attack`; otherwise every tenth, which takes a second or two. */
const isWhole = Boolean(process.env.RECORD_ADDRESSES ?? process.env.EVERY_ADDRESS);
const chosen = table.forms.filter((_, index) => isWhole || index % 10 === 0);

it("does with every form of address what the table says", { timeout: 900_000 }, async () => {
  const found: Table["forms"] = [];
  const queue = [...chosen.entries()];
  async function work(): Promise<void> {
    const render = await openRenderer();
    for (let next = queue.shift(); next; next = queue.shift())
      found[next[0]] = { html: next[1].html, ...(await render(next[1].html)) };
  }
  await Promise.all(Array.from({ length: 4 }, work));
  if (process.env.RECORD_ADDRESSES) {
    const recorded = { chromium: browser.version(), date: new Date().toISOString().slice(0, 10) };
    const lines = found.map((form) => `    ${JSON.stringify(form)}`).join(",\n");
    const head = JSON.stringify({ about: table.about, recorded }, null, 2).slice(0, -2);
    await writeFile(file, `${head},\n  "forms": [\n${lines}\n  ]\n}\n`);
    return;
  }
  expect(found).toEqual(chosen);
});
