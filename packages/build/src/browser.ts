// Runs inside the sandbox, and imports nothing of ours. Serves built sites on loopback and drives Chromium.
import { spawn } from "node:child_process";
import { openSync, readFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { extname } from "node:path";

/** The files of a built site. */
export type Site = Map<string, Buffer>;

export const types: Record<string, string> = {
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

export function readSite(file: string): Site {
  const bytes = readFileSync(file);
  const site: Site = new Map();
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

/** A site that is meant for the folder `base` of its domain has that in its addresses, and not in its files. */
export function find(site: Site, base: string, url: string): { path: string; bytes: Buffer } | null {
  // Pages ask for what is no address, too.
  const whole = pathIn(url);
  if (whole === null) return null;
  const inside = whole.startsWith(`${base}/`) ? whole.slice(base.length) : whole;
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

function pathIn(url: string): string | null {
  try {
    return decodeURIComponent(new URL(url, "http://site").pathname);
  } catch {
    return null;
  }
}

/** Serves a site on loopback. Returns its origin. */
export async function serve(site: Site, base: string): Promise<string> {
  const server = createServer((request, response) => {
    const found = find(site, base, request.url ?? "/");
    if (!found) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(found.path)] ?? "application/octet-stream" });
    return response.end(found.bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

type Answer = Record<string, unknown>;
export type Browser = ReturnType<typeof startChromium>;
export type Page = Awaited<ReturnType<Browser["open"]>>;

interface Session {
  send(method: string, params?: object): Promise<Answer>;
  once(method: string, isIt?: (params: Answer) => boolean): Promise<void>;
  /** All that the page tells, up to its end. */
  hear(heard: (method: string, params: Answer) => void): void;
}

/** Speaks the Chrome DevTools Protocol over two pipes. */
export function startChromium(program: string): {
  open(): Promise<Session & { close(): Promise<void> }>;
  stop(): void;
} {
  const flags = [
    ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio"],
    ...["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"],
    ...["--no-first-run", "--no-default-browser-check", "--force-color-profile=srgb", "--font-render-hinting=none"],
    ...["--user-data-dir=/tmp/chromium", "--remote-debugging-pipe", "about:blank"],
  ];
  const child = spawn(program, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
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
        hear: (heard) => void listeners.add((of, method, params) => of === sessionId && heard(method, params)),
        close: async () => void (await send("Target.closeTarget", { targetId })),
      };
    },
    stop: () => {
      child.removeAllListeners("exit");
      child.kill("SIGKILL");
    },
  };
}

export const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Writes blocks: a length of four bytes, then that many bytes. */
export function openBlocks(path: string): (bytes: Buffer) => void {
  const file = openSync(path, "w");
  return (bytes) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.byteLength);
    for (const part of [length, bytes]) for (let at = 0; at < part.byteLength; at += writeSync(file, part, at));
  };
}

export function fail(error: unknown): void {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
