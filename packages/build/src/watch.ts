// Runs inside the sandbox. Finds what the pages of a built site do beyond showing text, as Chromium reads and runs them,
// and tells what the site before the change has nowhere. No parser of ours reads a page here.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { after, type Browser, fail, find, openBlocks, readSite, type Site, serve, startChromium } from "./browser.ts";
import { shapeOf } from "./code-shape.ts";
import { collect, type Found, useEverything } from "./collect.ts";

interface Order {
  chromium: string;
  sites: { before: string; after: string };
  /** Addresses of the pages whose files changed, with these files. They come first. */
  pages: { path: string; after: string | null }[];
  base: string;
  /** A file with the ids of all files that the documentation may publish as they are, one in a line. */
  blobs: string;
  /** A file for what is found. */
  report: string;
  readMax: number;
  openedMax: number;
  openMs: number;
}

const order: Order = JSON.parse(process.argv[2] ?? "");
const readMs = 10_000;
const loadMs = 8_000;
const quietMs = 1_500;
const answerMs = 4_000;
const openedAtOnce = 3;
/** What every text of the sandbox about itself contains: its users, its environment, its processes. */
const sandboxMark = Buffer.from("/run/emend/");
const documentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".htm": "text/html",
  ".xhtml": "application/xhtml+xml",
  ".svg": "image/svg+xml",
};
const pictures: readonly RegExp[] = [
  /^\x89PNG\r\n/,
  /^\xff\xd8\xff/,
  /^GIF8/,
  /^RIFF[\s\S]{4}WEBP/,
  /^[\s\S]{4}ftypavif/,
];

/** Code with other data is the same code. */
const keyOf = ({ kind, text, code }: Found) =>
  `${kind} ${code === undefined ? text : text.slice(0, code) + shapeOf(text.slice(code))}`;
const typeOf = (path: string) => documentTypes[extname(path).toLowerCase()];

/** A page of our own, in which no script of a site runs. It parses what others wrote. */
async function openReader(browser: Browser) {
  const { send } = await browser.open();
  return async (bytes: Buffer, type: string, url: string): Promise<readonly Found[] | null> => {
    const text = JSON.stringify(bytes.toString());
    const read = type === "text/css" ? `null, ${text}` : `new DOMParser().parseFromString(${text}, "${type}"), null`;
    const expression = `(${collect})(${read}, ${JSON.stringify(url)})`;
    const answer = send("Runtime.evaluate", { expression, returnByValue: true }).catch(() => null);
    return foundIn(await Promise.race([answer, after(readMs).then(() => null)]));
  };
}

async function frameOf(send: (method: string, params?: object) => Promise<Record<string, unknown>>): Promise<string> {
  const { frameTree } = (await send("Page.getFrameTree")) as { frameTree: { frame: { id: string } } };
  return frameTree.frame.id;
}

function foundIn(answer: Record<string, unknown> | null): readonly Found[] | null {
  const value = (answer?.result as { value?: unknown } | undefined)?.value;
  return Array.isArray(value) ? (value as Found[]) : null;
}

/** Opens a page as a reader does, and uses what it offers. Null: it does not answer. */
async function run(browser: Browser, url: string): Promise<readonly Found[] | null> {
  const { send, once, hear, close } = await browser.open();
  const found = new Map<string, Found>();
  const add = (one: Found) => found.set(`${one.kind} ${one.text}`, one);
  hear((method, params) => {
    const { request, url: opened } = params as { request?: { url: string }; url?: string };
    const asked =
      request?.url ?? (/^(?:Network\.webSocketCreated|Page\.windowOpen)$/.test(method) ? opened : undefined);
    const host = asked === undefined ? null : (URL.parse(asked)?.hostname ?? asked);
    if (host && host !== "127.0.0.1") add({ kind: "contact", text: host });
    if (method === "Page.javascriptDialogOpening") add({ kind: "dialog", text: "" });
  });
  try {
    await send("Page.enable");
    await send("Network.enable");
    await send("Page.setLifecycleEventsEnabled", { enabled: true });
    const loaded = once("Page.loadEventFired");
    const isQuiet = once("Page.lifecycleEvent", ({ name }) => name === "networkIdle");
    await send("Page.navigate", { url });
    await Promise.race([loaded, after(loadMs)]);
    await Promise.race([isQuiet, after(quietMs)]);
    // Beside the page's own scripts, so that they cannot change what is found.
    const look = async () => {
      const world = await send("Page.createIsolatedWorld", { frameId: await frameOf(send) });
      const expression = `(${collect})(document, null, ${JSON.stringify(url)})`;
      const contextId = world.executionContextId;
      return foundIn(await send("Runtime.evaluate", { expression, contextId, returnByValue: true }));
    };
    const seen = await Promise.race([look().catch(() => null), after(answerMs).then(() => null)]);
    for (const one of seen ?? []) add(one);
    if (seen === null) return found.size === 0 ? null : [...found.values()];
    const used = send("Runtime.evaluate", { expression: `(${useEverything})()` }).catch(() => null);
    await Promise.race([used, after(answerMs)]);
    await after(50);
    return [...found.values()];
  } finally {
    await Promise.race([close().catch(() => undefined), after(answerMs)]);
  }
}

/** A new file is a page, a picture, a file of the documentation, or one as the builder wrote others before. */
function isKnownFile(path: string, bytes: Buffer, before: Site, blobs: ReadonlySet<string>): boolean {
  const start = bytes.toString("latin1", 0, 16);
  const id = createHash("sha1").update(`blob ${bytes.byteLength}\0`).update(bytes).digest("hex");
  if (before.has(path) || typeOf(path) !== undefined || blobs.has(id) || pictures.some((one) => one.test(start)))
    return true;
  const folderOf = (one: string) => (one.includes("/") ? one.split("/", 1)[0] : "");
  return before.entries().some(([other, known]) => {
    const isLike = extname(other) === extname(path) && folderOf(other) === folderOf(path);
    return isLike || basename(other) === basename(path) || known.equals(bytes);
  });
}

async function watch(): Promise<void> {
  const sites = { before: readSite(order.sites.before), after: readSite(order.sites.after) };
  const origins = { before: await serve(sites.before, order.base), after: await serve(sites.after, order.base) };
  const write = openBlocks(order.report);
  const tell = (line: object) => write(Buffer.from(JSON.stringify(line)));
  const browser = startChromium(order.chromium);
  const read = await openReader(browser);
  const blobs = new Set(readFileSync(order.blobs, "utf8").split("\n"));
  const sources = new Map(
    order.pages.flatMap(({ path, after: url }) => {
      const file = url === null ? null : find(sites.after, order.base, url);
      return file === null ? [] : [[file.path, path] as const];
    }),
  );
  const changed = [...sites.after]
    .filter(([path, bytes]) => !sites.before.get(path)?.equals(bytes))
    .sort(([a], [b]) => Number(sources.has(b)) - Number(sources.has(a)));
  const tellOf = (path: string) => (found: Found) =>
    tell({ path, source: sources.get(path) ?? null, ...found, text: found.text.slice(0, 2_000) });

  for (const [path, bytes] of changed) {
    if (!isKnownFile(path, bytes, sites.before, blobs)) tellOf(path)({ kind: "file", text: "" });
    if (bytes.includes(sandboxMark) && ![...sites.before.values()].some((one) => one.includes(sandboxMark)))
      tellOf(path)({ kind: "machine", text: "" });
  }

  const readOf = (side: "before" | "after", path: string): Promise<readonly Found[] | null> => {
    const bytes = sites[side].get(path);
    const type = /\.css$/i.test(path) ? "text/css" : typeOf(path);
    return bytes && type ? read(bytes, type, `http://site${order.base}/${path}`) : Promise.resolve([]);
  };
  /** All that the whole site before the change has. Read only if a page has something new. */
  let known: Promise<ReadonlySet<string>> | undefined;
  async function readAll(): Promise<ReadonlySet<string>> {
    const all = new Set<string>();
    for (const path of sites.before.keys()) for (const one of (await readOf("before", path)) ?? []) all.add(keyOf(one));
    return all;
  }
  async function newOnes(now: readonly Found[], then: readonly Found[]): Promise<readonly Found[]> {
    const there = new Set(then.map(keyOf));
    const fresh = now.filter((one) => !there.has(keyOf(one)));
    if (fresh.length === 0) return [];
    known ??= readAll();
    const all = await known;
    // A link that was there may be followed now.
    return fresh.filter((one) => !all.has(keyOf(one)) && !(one.kind === "contact" && all.has(`link ${one.text}`)));
  }

  const documents = changed.map(([path]) => path).filter((path) => typeOf(path) !== undefined || /\.css$/i.test(path));
  for (const path of documents.slice(0, order.readMax)) {
    const now = await readOf("after", path);
    if (now === null) tellOf(path)({ kind: "unread", text: "" });
    else for (const one of await newOnes(now, (await readOf("before", path)) ?? [])) tellOf(path)(one);
  }
  tell({ read: Math.min(documents.length, order.readMax), of: documents.length });

  const started = performance.now();
  const pages = documents.filter((path) => typeOf(path) !== undefined).slice(0, order.openedMax);
  const opened = (side: "before" | "after", path: string) =>
    sites[side].has(path)
      ? run(browser, `${origins[side]}${order.base}/${path.split("/").map(encodeURIComponent).join("/")}`)
      : null;
  const ran: Found[] = [...((await opened("before", "index.html")) ?? [])];
  const openNext = async (): Promise<void> => {
    for (let path = pages.shift(); path !== undefined; path = pages.shift()) {
      if (performance.now() - started > order.openMs) return;
      const [now, then] = await Promise.all([opened("after", path), opened("before", path)]);
      ran.push(...(then ?? []));
      if (now === null && (then !== null || !sites.before.has(path))) tellOf(path)({ kind: "unread", text: "" });
      for (const one of await newOnes(now ?? [], ran)) tellOf(path)(one);
    }
  };
  await Promise.all(Array.from({ length: openedAtOnce }, openNext));
  tell({ done: true });
  browser.stop();
  process.exit(0);
}

watch().catch(fail);
