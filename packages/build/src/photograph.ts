// Runs inside the sandbox. Opens pages of two built sites in Chromium, and writes their pictures, with the rows in which
// they differ. A site's pages run their scripts here.
import { after, type Browser, fail, find, openBlocks, readSite, serve, startChromium } from "./browser.ts";

interface Order {
  chromium: string;
  /** Files of packed sites. */
  sites: { before: string; after: string };
  pages: { path: string; before: string | null; after: string | null }[];
  widths: number[];
  /** What the addresses of the site begin with; "" or `/folder`. */
  base: string;
  pictures: string;
}

type Side = "before" | "after";
type Marks = [number, number][];
interface Shot {
  height: number;
  /** A hash of each row of pixels. */
  rows: number[];
  webp: Buffer;
}

const order: Order = JSON.parse(process.argv[2] ?? "");
const screenHeight = 800;
const heightMax = 4000;
const pageMs = 15_000;
const quietMs = 3_000;
const shotMs = 20_000;
/** Marks that are closer than this become one. */
const gapRows = 24;

/** Makes a PNG smaller, and hashes its rows. Runs in a page of its own. */
const measure = `async (png) => {
  const blob = await (await fetch("data:image/png;base64," + png)).blob();
  const bitmap = await createImageBitmap(blob);
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer);
  const rows = [];
  for (let y = 0; y < bitmap.height; y++) {
    let hash = 2166136261;
    for (let x = y * bitmap.width; x < (y + 1) * bitmap.width; x++) hash = Math.imul(hash ^ pixels[x], 16777619);
    rows.push(hash >>> 0);
  }
  const webp = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.75 })).arrayBuffer());
  return JSON.stringify({ height: bitmap.height, rows, webp: webp.toBase64?.() ?? btoa(Array.from(webp, (byte) => String.fromCharCode(byte)).join("")) });
}`;

async function shoot(browser: Browser, url: string, width: number): Promise<Shot> {
  const page = await browser.open();
  const { send, once } = page;
  await send("Page.enable");
  await send("Page.setLifecycleEventsEnabled", { enabled: true });
  const metrics = { width, height: screenHeight, deviceScaleFactor: 1, mobile: width < 600 };
  await send("Emulation.setDeviceMetricsOverride", metrics);
  const features = [
    { name: "prefers-reduced-motion", value: "reduce" },
    { name: "prefers-color-scheme", value: "light" },
  ];
  await send("Emulation.setEmulatedMedia", { features });
  const loaded = once("Page.loadEventFired");
  const isQuiet = once("Page.lifecycleEvent", ({ name }) => name === "networkIdle");
  await send("Page.navigate", { url });
  await Promise.race([loaded, after(pageMs)]);
  await Promise.race([isQuiet, after(quietMs)]);
  const still = `(() => { const style = document.createElement("style");
    style.textContent = "*,*::before,*::after{animation:none!important;transition:none!important;caret-color:transparent!important}";
    document.head?.append(style); return document.fonts.ready.then(() => 1); })()`;
  await Promise.race([send("Runtime.evaluate", { expression: still, awaitPromise: true }), after(quietMs)]);
  const { cssContentSize } = (await send("Page.getLayoutMetrics")) as { cssContentSize: { height: number } };
  const height = Math.max(1, Math.min(heightMax, Math.ceil(cssContentSize.height)));
  const clip = { x: 0, y: 0, width, height, scale: 1 };
  const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip });
  await page.close();
  const meter = await browser.open();
  const call = `(${measure})(${JSON.stringify(data)})`;
  const { result } = (await meter.send("Runtime.evaluate", { expression: call, awaitPromise: true })) as {
    result: { value: string };
  };
  await meter.close();
  const measured = JSON.parse(result.value) as { height: number; rows: number[]; webp: string };
  return { ...measured, webp: Buffer.from(measured.webp, "base64") };
}

/** Which rows of each side the other does not have, by the rows that both have once, in the same order. */
function differ(before: readonly number[], now: readonly number[]): { before: Marks; after: Marks } {
  const once = (rows: readonly number[]) => {
    const at = new Map<number, number>();
    rows.forEach((row, y) => void at.set(row, at.has(row) ? -1 : y));
    return at;
  };
  const [old, fresh] = [once(before), once(now)];
  const pairs = before.flatMap((row, y) => {
    const there = fresh.get(row) ?? -1;
    return old.get(row) === y && there !== -1 ? [[y, there] as const] : [];
  });
  const [kept, same] = [new Set<number>(), new Set<number>()];
  const keep = (y: number, there: number) => {
    if (y < 0 || there < 0 || before[y] !== now[there] || before[y] === undefined) return false;
    if (kept.has(y) || same.has(there)) return false;
    kept.add(y);
    same.add(there);
    return true;
  };
  const ends = [[0, 0] as const, [before.length - 1, now.length - 1] as const];
  for (const [y, there] of [...longestRising(pairs), ...ends]) {
    if (!keep(y, there) && !kept.has(y)) continue;
    for (let step = 1; keep(y + step, there + step); ) step += 1;
    for (let step = 1; keep(y - step, there - step); ) step += 1;
  }
  return { before: marksOf(before.length, kept), after: marksOf(now.length, same) };
}

/** The most pairs whose second numbers rise. */
function longestRising(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const tails: number[] = [];
  const previous: number[] = [];
  pairs.forEach(([, there], at) => {
    let low = 0;
    for (let high = tails.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] as number] as readonly [number, number])[1] < there) low = middle + 1;
      else high = middle;
    }
    previous[at] = tails[low - 1] ?? -1;
    tails[low] = at;
  });
  const rising: (readonly [number, number])[] = [];
  for (let at = tails.at(-1) ?? -1; at !== -1; at = previous[at] as number)
    rising.unshift(pairs[at] as [number, number]);
  return rising;
}

function marksOf(rows: number, kept: ReadonlySet<number>): Marks {
  const marks: Marks = [];
  for (let y = 0; y < rows; y++) {
    if (kept.has(y)) continue;
    const last = marks.at(-1);
    if (last && y - last[1] <= gapRows) last[1] = y + 1;
    else marks.push([y, y + 1]);
  }
  return marks;
}

async function takeAll(): Promise<void> {
  const sites = { before: readSite(order.sites.before), after: readSite(order.sites.after) };
  const origins = { before: await serve(sites.before, order.base), after: await serve(sites.after, order.base) };
  const browser = startChromium(order.chromium);
  const write = openBlocks(order.pictures);
  const silent = new Set<string>();
  for (const page of order.pages) {
    for (const width of order.widths) {
      const take = async (side: Side) => {
        const url = page[side];
        if (url === null || !find(sites[side], order.base, url)) return null;
        // A page may keep its thread busy for ever. It is not asked twice.
        if (silent.has(url)) return null;
        const shot = shoot(browser, `${origins[side]}${url}`, width).catch(() => null);
        const taken = await Promise.race([shot, after(shotMs).then(() => null)]);
        if (taken === null) silent.add(url);
        return taken;
      };
      const shots = { before: await take("before"), after: await take("after") };
      const marks =
        shots.before && shots.after ? differ(shots.before.rows, shots.after.rows) : { before: [], after: [] };
      for (const side of ["before", "after"] as const) {
        const shot = shots[side];
        if (shot === null) continue;
        const { height, webp } = shot;
        write(Buffer.from(JSON.stringify({ path: page.path, width, side, height, marks: marks[side] })));
        write(webp);
      }
    }
  }
  browser.stop();
  process.exit(0);
}

takeAll().catch(fail);
