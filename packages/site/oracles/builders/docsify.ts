import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { askedKey, type Builder, homeOf } from "./builder.ts";

/** What Docsify renders at a route in a browser: the HTML of the content, with links as the browser resolves them. */
type ShowRoute = (route: string) => Promise<string>;

/** Serves a site on loopback and opens its routes in Chromium, because Docsify renders only in the browser. */
async function inDocsify<T>(folder: string, use: (show: ShowRoute) => Promise<T>): Promise<T> {
  const modules = join(homeOf(folder), "node_modules");
  await copyFile(join(modules, "docsify/lib/docsify.min.js"), join(folder, "docsify.min.js"));
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "", "http://site").pathname);
    const body = await readFile(join(folder, path === "/" ? "index.html" : path)).catch(() => null);
    const type = /\.html$|^\/$/.test(path) ? "text/html" : path.endsWith(".js") ? "text/javascript" : "text/plain";
    response.writeHead(body === null ? 404 : 200, { "content-type": `${type}; charset=utf-8` }).end(body ?? "");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { chromium } = await import(join(modules, "playwright-core/index.mjs"));
  const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const page = await browser.newPage();
    return await use(async (route) => {
      await page.goto("about:blank");
      await page.goto(`${origin}/#${route}`);
      await page.waitForSelector("#main > *", { state: "attached" });
      return page.evaluate(readShown);
    });
  } finally {
    await browser.close();
    server.close();
  }
}

/** Runs in the page. A route is written as one encoded segment; a file of the server is written below `/~`. */
const readShown = `(() => {
  const main = document.querySelector("#main");
  for (const [selector, name] of [["a[href]", "href"], ["img[src]", "src"]])
    for (const element of main.querySelectorAll(selector)) {
      const url = new URL(element[name]);
      if (url.origin !== location.origin) continue;
      const [route, query = ""] = url.hash.slice(1).split("?");
      const id = new URLSearchParams(query).get("id");
      const isRoute = url.pathname === "/" && url.hash !== "";
      const fragment = id === null ? "" : "#" + encodeURIComponent(id);
      element.setAttribute(name, isRoute ? "/" + encodeURIComponent(route) + fragment : "/~" + url.pathname);
    }
  return main.outerHTML;
})()`;

export const docsify: Builder = {
  framework: "docsify",
  packages: { docsify: "4.13.1", "playwright-core": "1.65.0" },
  async make(folder) {
    const files = (await readdir(folder, { recursive: true })).filter((path) => /(?:^|\/)[^_/]*[^/]*\.md$/.test(path));
    await inDocsify(folder, async (show) => {
      for (const file of files.map((path) => path.replace(/md$/, "html"))) {
        const shown = await show(docsify.pageUrl(file));
        await mkdir(dirname(join(folder, "_shown", file)), { recursive: true });
        await writeFile(join(folder, "_shown", file), shown);
      }
    });
    return { isGood: true, log: "" };
  },
  output: "_shown",
  pageUrl: (file) => `/${file.replace(/(?:^|(?<=\/))README\.html$|\.html$/, "")}`,
  answers: (folder, paths) =>
    inDocsify(folder, async (show) => {
      const found = new Map<string, string>();
      for (const path of paths) {
        const route = decodeURIComponent(path);
        const file = /^\/~\/(.+)$/.exec(route)?.[1];
        const text =
          file === undefined
            ? await show(route.slice(1))
            : await readFile(join(folder, file), "utf8").catch(() => null);
        if (text !== null && !/>404 - Not found</.test(text)) found.set(path, text);
      }
      return found;
    }),
  versions: async () => ({ docsify: docsify.packages.docsify ?? "" }),
  read: async (_ran, site, folder) => ({
    askServer: (asked) =>
      inDocsify(folder, async (show) => {
        const served = new Map<string, string>();
        for (const one of asked) {
          const path = decodeURIComponent(one.path);
          const file = /^\/~\/(.+)$/.exec(path)?.[1];
          if (file !== undefined) {
            if (site.files[file] !== undefined) served.set(askedKey(one), file);
            continue;
          }
          const shown = await show(path.slice(1));
          const source = [...site.marks].find(([, mark]) => shown.includes(mark))?.[0];
          if (source !== undefined) served.set(askedKey(one), source.replace(/md$/, "html"));
        }
        return served;
      }),
  }),
};
