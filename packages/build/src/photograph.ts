// Runs inside the sandbox, and imports nothing of ours. Serves two built sites on loopback, opens pages of both in
// Chromium, and writes their pictures, with the rows in which they differ. A site's pages run their scripts here.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { extname } from "node:path";

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
const shotMs = 30_000;
/** Marks that are closer than this become one. */
const gapRows = 24;

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
};

function readSite(file: string): Map<string, Buffer> {
  const bytes = readFileSync(file);
  const site = new Map<string, Buffer>();
  let path: string | null = null;
  for (let at = 0; at + 4 <= bytes.byteLength; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    const block = bytes.subarray(at + 4, end);
    if (path === null) path = (JSON.parse(block.toString()) as { path: string }).path;
    else {
      site.set(path, block);
      path = null;
    }
    at = end;
  }
  return site;
}

/** A site that is meant for a folder of its domain has that folder in its addresses, and not in its files. */
function find(site: Map<string, Buffer>, url: string): { path: string; bytes: Buffer } | null {
  const { pathname } = new URL(url, "http://site");
  const whole = decodeURIComponent(pathname);
  const inside = whole.startsWith(`${order.base}/`) ? whole.slice(order.base.length) : whole;
  const path = inside.replace(/^\/+|\/+$/g, "");
  for (const name of path === "" ? ["index.html"] : [path, `${path}/index.html`, `${path}.html`]) {
    const bytes = site.get(name);
    if (bytes) return { path: name, bytes };
  }
  if (extname(path) === "" || extname(path) === ".html") return null;
  // A computed folder that nothing says: a style sheet is the same below any.
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    const bytes = site.get(path.slice(at + 1));
    if (bytes) return { path, bytes };
  }
  return null;
}

async function serve(site: Map<string, Buffer>): Promise<string> {
  const server = createServer((request, response) => {
    const found = find(site, request.url ?? "/");
    if (!found) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(found.path)] ?? "application/octet-stream" });
    return response.end(found.bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

type Answer = Record<string, unknown>;
interface Session {
  send(method: string, params?: object): Promise<Answer>;
  once(method: string, isIt?: (params: Answer) => boolean): Promise<void>;
}

/** Speaks the Chrome DevTools Protocol over two pipes. */
function startChromium(): { open(): Promise<Session & { close(): Promise<void> }>; stop(): void } {
  const flags = [
    ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio"],
    ...["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"],
    ...["--no-first-run", "--no-default-browser-check", "--force-color-profile=srgb", "--font-render-hinting=none"],
    ...["--user-data-dir=/tmp/chromium", "--remote-debugging-pipe", "about:blank"],
  ];
  const child = spawn(order.chromium, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  child.on("error", fail);
  child.on("exit", () => fail(new Error("Chromium ended")));
  const to = child.stdio[3] as NodeJS.WritableStream;
  const from = child.stdio[4] as NodeJS.ReadableStream;
  const waiting = new Map<number, (answer: { result?: Answer; error?: { message: string } }) => void>();
  const listeners = new Set<(sessionId: string, method: string, params: Answer) => void>();
  let held: Buffer[] = [];
  let number = 0;
  from.on("data", (chunk: Buffer) => {
    let rest = chunk;
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
      const message = JSON.parse(Buffer.concat([...held, rest.subarray(0, end)]).toString());
      held = [];
      rest = rest.subarray(end + 1);
      if (message.id) waiting.get(message.id)?.(message);
      else for (const hear of listeners) hear(message.sessionId, message.method, message.params);
      // A dialog stops its page until somebody answers.
      if (message.method === "Page.javascriptDialogOpening") {
        send("Page.handleJavaScriptDialog", { accept: false }, message.sessionId).catch(() => undefined);
      }
    }
    held.push(rest);
  });
  function send(method: string, params: object = {}, sessionId?: string): Promise<Answer> {
    number += 1;
    const id = number;
    to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id);
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result ?? {});
      });
    });
  }
  return {
    async open() {
      const { targetId } = await send("Target.createTarget", { url: "about:blank" });
      const { sessionId } = (await send("Target.attachToTarget", { targetId, flatten: true })) as { sessionId: string };
      return {
        send: (method, params) => send(method, params, sessionId),
        once: (method, isIt = () => true) =>
          new Promise((resolve) => {
            const hear = (of: string, name: string, params: Answer) => {
              if (of !== sessionId || name !== method || !isIt(params)) return;
              listeners.delete(hear);
              resolve();
            };
            listeners.add(hear);
          }),
        close: async () => void (await send("Target.closeTarget", { targetId })),
      };
    },
    stop: () => {
      child.removeAllListeners("exit");
      child.kill("SIGKILL");
    },
  };
}

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

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

type Browser = ReturnType<typeof startChromium>;

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

const pictures = openSync(order.pictures, "w");
function write(bytes: Buffer): void {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.byteLength);
  for (const part of [length, bytes]) for (let at = 0; at < part.byteLength; at += writeSync(pictures, part, at));
}

function fail(error: unknown): void {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

async function takeAll(): Promise<void> {
  const sites = { before: readSite(order.sites.before), after: readSite(order.sites.after) };
  const origins = { before: await serve(sites.before), after: await serve(sites.after) };
  const browser = startChromium();
  for (const page of order.pages) {
    for (const width of order.widths) {
      const take = async (side: Side) => {
        const url = page[side];
        if (url === null || !find(sites[side], url)) return null;
        // A page may keep its thread busy for ever.
        const shot = shoot(browser, `${origins[side]}${url}`, width).catch(() => null);
        return Promise.race([shot, after(shotMs).then(() => null)]);
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
  closeSync(pictures);
  process.exit(0);
}

takeAll().catch(fail);
