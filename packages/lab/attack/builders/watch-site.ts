import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type BrowserContext, chromium, type Page } from "playwright-core";

const types: Readonly<Record<string, string>> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
};
const flags =
  "--no-sandbox --headless --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run";

/** Uses what a reader may use: every handler and running address. Returns the hosts of all links. */
const use = `(() => {
  const seen = [];
  for (const one of document.querySelectorAll("*")) {
    for (const { name } of [...one.attributes]) if (/^on/i.test(name)) one.dispatchEvent(new Event(name.slice(2), { bubbles: false }));
    for (const url of [one.href, one.action, one.formAction]) {
      const text = typeof url === "string" ? url : url?.baseVal ?? "";
      if (/^javascript:/i.test(text)) { try { (0, eval)(decodeURIComponent(text.slice(11))); } catch {} }
      try { seen.push(new URL(text, document.baseURI).hostname); } catch {}
    }
  }
  return seen;
})()`;

/** Serves a folder on loopback and opens each page in Chromium. No request leaves: hosts are only noted. */
export async function watchSite(folder: string, isWanted: (path: string) => boolean): Promise<ReadonlySet<string>> {
  const files = (await readdir(folder, { recursive: true })).filter((path) => /\.(?:html|svg)$/.test(path));
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "", "http://site").pathname);
    const found = await readFile(join(folder, path)).catch(() => null);
    const type = types[path.split(".").at(-1) ?? ""] ?? "application/octet-stream";
    response.writeHead(found === null ? 404 : 200, { "content-type": `${type}; charset=utf-8` }).end(found ?? "");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hosts = new Set<string>();
  const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: flags.split(" ") });
  try {
    const waiting = files.filter(isWanted);
    const visit = async () => {
      const context = await browser.newContext();
      await context.route("**/*", (route) => {
        const url = route.request().url();
        // A browser asks for addresses that Node does not parse.
        const hostname = URL.canParse(url) ? new URL(url).hostname : url;
        if (hostname === "127.0.0.1") return route.continue();
        hosts.add(hostname);
        return route.abort();
      });
      let page = await openPage(context);
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        const loaded = await page.goto(`${origin}/${path}`, { waitUntil: "load", timeout: 10_000 }).catch(() => null);
        const linked = await Promise.race([page.evaluate(use), pause(3_000)]).catch(() => null);
        for (const host of Array.isArray(linked) ? linked : []) hosts.add(`link ${host}`);
        await pause(30);
        if (loaded !== null && Array.isArray(linked)) continue;
        // One that navigates away or never ends must not disturb the next.
        await Promise.race([page.close().catch(() => undefined), pause(1_000)]);
        page = await openPage(context);
      }
      await context.close();
    };
    await Promise.all([visit(), visit(), visit()]);
  } finally {
    await browser.close();
    server.close();
  }
  return hosts;
}

async function openPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.on("dialog", (dialog) => void dialog.dismiss().catch(() => undefined));
  return page;
}
