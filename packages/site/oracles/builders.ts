<<<<<<< HEAD
import type { Builder } from "./builders/builder.ts";
import { docsify } from "./builders/docsify.ts";
import { fumadocs } from "./builders/fumadocs.ts";
import { docusaurus, mintlify, nextra, starlight, vitepress } from "./builders/npm-builders.ts";
import { hugo, jekyll, mdbook, mkdocs, sphinx } from "./builders/system-builders.ts";
=======
// One entry for each builder, side by side: a new one is written after its neighbour, and none depends on another.
import { execFile, spawn } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { dirOf, joinPath } from "../src/links/route.ts";
import { splitTarget } from "../src/links/target.ts";
import { type OracleSite, type PlacedLink, picture } from "./layouts.ts";

/** One builder: what is installed for it, how it is run, and what it says of a site. */
export interface Builder {
  framework: string;
  /** From npm, with their exact versions. */
  packages: Readonly<Record<string, string>>;
  /** From Debian, to be unpacked: programs that need a newer system than this may be. */
  archives?: readonly string[];
  /** Builds the site of a folder. A build that fails is an answer, too. With `ORACLE_STRICT` it fails where it finds a fault. */
  make(folder: string, env?: Record<string, string>): Promise<Ran>;
  /** Where it writes to, below the site; null where it writes nothing. */
  output: string | null;
  /** The address of a page's HTML file, as browsers see it. */
  pageUrl(file: string): string;
  /** Where no files show what is served: the HTML that is answered with for paths of a site that was made. */
  answers?(folder: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  versions(folder: string): Promise<Readonly<Record<string, string>>>;
  /** What it says of the links of a site that was made. */
  read(ran: Ran, site: OracleSite, folder: string): Promise<Reading>;
}

/** The path of an address, and the page that it is asked from. */
export interface Asked {
  path: string;
  from: string;
}

export function askedKey({ path, from }: Asked): string {
  return `${from} ${path}`;
}

export interface Reading {
  /** What the site is served below; left out, the top. */
  base?: string;
  /** Whether the builder calls a link broken, by what it made of it and the address of its page. */
  isReported?(link: PlacedLink, href: string, pageUrl: string): boolean;
  /** A target that it cannot find becomes no link at all. */
  dropsBroken?: true;
  /** Whether it calls a link's fragment broken, where no output shows it. */
  lacksAnchor?(link: PlacedLink): boolean;
  /** Asks the builder's own server for addresses: the file of each, or "redirect"; null where it has none. */
  askServer?(asked: readonly Asked[]): Promise<ReadonlyMap<string, string>>;
  /** Ids by page, where no output shows them. */
  ids?: ReadonlyMap<string, readonly string[]>;
}

/** Outside of the repository: builders look upwards for packages and workspaces. */
const cacheFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "emend-oracles");

const timeoutMs = 45 * 60_000;
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export interface Ran {
  isGood: boolean;
  log: string;
}

export function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ran> {
  const settings = {
    NO_COLOR: "1",
    FORCE_COLOR: "0",
    CI: "1",
    ASTRO_TELEMETRY_DISABLED: "1",
    NEXT_TELEMETRY_DISABLED: "1",
  };
  return new Promise((done) => {
    execFile(
      program,
      args,
      { cwd, timeout: timeoutMs, maxBuffer: 2 ** 26, env: { ...process.env, ...settings, ...env } },
      (error, stdout, stderr) => done({ isGood: error === null, log: `${stdout}\n${stderr}` }),
    );
  });
}

/** Writes a site into the builder's folder, from scratch. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text === picture ? Buffer.from(pixel, "base64") : text);
  }
}

const debian = "http://deb.debian.org/debian/pool/main/";

export async function install({ framework, packages, archives = [] }: Builder): Promise<string> {
  const folder = join(cacheFolder, framework);
  await mkdir(folder, { recursive: true });
  for (const archive of archives) {
    const script = `test -e ${basename(archive)} || (curl -sfO ${debian}${archive} && dpkg-deb -x ${basename(archive)} .)`;
    const { isGood, log } = await run("sh", ["-c", script], folder);
    if (!isGood) throw new Error(`Debian has no ${archive}: ${log.slice(-2000)}`);
  }
  const wanted = JSON.stringify({ private: true, type: "module", dependencies: packages });
  const file = join(folder, "package.json");
  const has = await readFile(file, "utf8").catch(() => "");
  if (has === wanted || Object.keys(packages).length === 0) return folder;
  await rm(file, { force: true });
  await writeFile(file, wanted);
  const { isGood, log } = await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], folder);
  if (isGood) return folder;
  await rm(file, { force: true });
  throw new Error(`npm could not install ${framework}: ${log.slice(-2000)}`);
}

/** The folder that packages were installed into, for a site below it. */
function homeOf(folder: string): string {
  return dirname(dirname(folder));
}

function runNode(program: string): Builder["make"] {
  const [name = "", ...args] = program.split(" ");
  return (folder, env) => run(process.execPath, [join(homeOf(folder), "node_modules", name), ...args], folder, env);
}

/** A program of the machine, and what a line of its own language says of its versions. */
function runSystem(program: string): Builder["make"] {
  const [name = "", ...args] = program.split(" ");
  return (folder, env) => run(name, args, folder, env);
}

/** The interpreter that runs a program knows which modules it loads. */
async function pythonVersions(program: string, modules: readonly string[], folder: string): Promise<string[]> {
  const ask = `import ${modules.join(", ")}; print(${modules.map((name) => `${name}.__version__`).join(", ")})`;
  const script = `$(head -n 1 "$(command -v ${program})" | cut -c 3-) -c "${ask}"`;
  return (await run("sh", ["-c", script], folder)).log.trim().split(" ");
}

/** `folder/index.html` is served as `folder/`. */
const indexUrl: Builder["pageUrl"] = (file) => `/${file.replace(/(?:^|(?<=\/))index\.html$/, "")}`;
/** The same without the slash, and without the ending. */
const bareUrl: Builder["pageUrl"] = (file) => `/${file.replace(/(?:^|\/)index\.html$/, "").replace(/\.html$/, "")}`;

const mkdocs: Builder = {
  framework: "mkdocs",
  packages: {},
  make: (folder, env) => runSystem(`mkdocs build ${env?.ORACLE_STRICT === "1" ? "--strict" : "--quiet"}`)(folder),
  output: "site",
  pageUrl: indexUrl,
  async versions(folder) {
    const { log } = await run("mkdocs", ["--version"], folder);
    const [markdown = "", pymdownx = ""] = await pythonVersions("mkdocs", ["markdown", "pymdownx"], folder);
    return { mkdocs: /version (\S+)/.exec(log)?.[1] ?? "", markdown, "pymdown-extensions": pymdownx };
  },
  async read({ log }) {
    const reported = new Set<string>();
    for (const found of log.matchAll(/file '([^']+)' contains a link to '([^']+)' which is not found/g))
      reported.add(`${found[1]} ${found[2]}`);
    return {
      isReported({ path, target }) {
        // A link by its page and the file that it names, as MkDocs prints it.
        const inRoot = path.slice("docs/".length);
        return reported.has(`${inRoot} ${joinPath(dirOf(inRoot), splitTarget(target).path) ?? target}`);
      },
    };
  },
};

const vitepress: Builder = {
  framework: "vitepress",
  packages: { vitepress: "1.6.4" },
  make: runNode("vitepress/bin/vitepress.js build docs"),
  output: "docs/.vitepress/dist",
  pageUrl: indexUrl,
  versions: async () => vitepress.packages,
  async read(_ran, site, folder) {
    // Into a folder of its own: it ends before it has written what the lenient build did.
    const build = runNode("vitepress/bin/vitepress.js build docs --outDir strict");
    const strict = await build(folder, { ORACLE_STRICT: "1" });
    const reported = new Set<string>();
    for (const found of strict.log.matchAll(/Found dead link (.+?) in file (.+)/g))
      reported.add(`${found[2]?.replace(/\.md$/, "")} ${decodeURI(found[1] ?? "")}`);
    const config = Object.entries(site.files).find(([path]) => path.includes("/.vitepress/config"))?.[1] ?? "";
    const base = /base: "([^"]+)"/.exec(config)?.[1] ?? "/";
    return {
      base,
      isReported: ({ from }, href) => {
        const inBase = href.startsWith(base) ? href.slice(base.length - 1) : href;
        const written = inBase
          .replace(/[?#].*$/, "")
          .replace(/\.html$/, "")
          .replace(/\/$/, "/index");
        return reported.has(`${from} ${written}`);
      },
    };
  },
};

const docusaurusVersion = "3.10.2";
const docusaurus: Builder = {
  framework: "docusaurus",
  packages: {
    ...Object.fromEntries(
      ["core", "preset-classic", "plugin-client-redirects"].map((name) => [`@docusaurus/${name}`, docusaurusVersion]),
    ),
    // Newer ones ask for packages that cannot be had.
    "@docsearch/react": "4.6.0",
    react: "19.3.1",
    "react-dom": "19.3.1",
  },
  make: runNode("@docusaurus/core/bin/docusaurus.mjs build --no-minify"),
  output: "build",
  pageUrl: bareUrl,
  versions: async () => ({ docusaurus: docusaurusVersion }),
  async read({ log }) {
    const reported = new Set<string>();
    let page = "";
    for (const line of log.split("\n")) {
      page = /source page path = (\S+?):?$/.exec(line.trim())?.[1] ?? page;
      const target = /-> linking to (.+?)(?: \(resolved as: .*\))?$/.exec(line.trim())?.[1];
      if (target !== undefined) reported.add(`${page} ${target}`);
    }
    return { isReported: (_link, href, page) => reported.has(`${page} ${href}`) };
  },
};

const starlight: Builder = {
  framework: "starlight",
  packages: { astro: "7.3.5", "@astrojs/starlight": "0.42.4" },
  make: runNode("astro/bin/astro.mjs build"),
  output: "dist",
  pageUrl: indexUrl,
  versions: async () => starlight.packages,
  read: async (_ran, site) => ({ base: `${/base: "([^"]+)"/.exec(site.files["astro.config.mjs"] ?? "")?.[1] ?? ""}/` }),
};

const nextra: Builder = {
  framework: "nextra",
  packages: {
    nextra: "4.6.1",
    "nextra-theme-docs": "4.6.1",
    next: "15.5.29",
    react: "19.3.1",
    "react-dom": "19.3.1",
    // Newer ones refuse the theme's own layout.
    zod: "4.1.12",
  },
  make: runNode("next/dist/bin/next build"),
  output: ".next/server/app",
  pageUrl: bareUrl,
  versions: async () => nextra.packages,
  read: async (_ran, _site, folder) => ({ askServer: (asked) => askNext(folder, asked) }),
};

const nextPort = 39_413;

/** Starts Next's own server for as long as it is asked. A reader of a language has a cookie that says so. */
async function askNext(cwd: string, asked: readonly Asked[]): Promise<ReadonlyMap<string, string>> {
  const program = join(homeOf(cwd), "node_modules/next/dist/bin/next");
  const server = spawn(process.execPath, [program, "start", "-p", String(nextPort), "-H", "127.0.0.1"], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const served = new Map<string, string>();
  try {
    await new Promise<void>((ready, fail) => {
      server.on("exit", () => fail(new Error("next start ended")));
      server.stdout.on("data", (text: Buffer) => void (text.includes("Ready") && ready()));
    });
    for (const one of asked) {
      const language = /^content\/([a-z]{2})\//.exec(one.from)?.[1];
      const headers = language === undefined ? {} : { cookie: `NEXT_LOCALE=${language}` };
      const asks = (path: string): Promise<Response> =>
        fetch(`http://127.0.0.1:${nextPort}${path}`, { headers, redirect: "manual" });
      let url = new URL(one.path, `http://localhost:${nextPort}`);
      let answer = await asks(url.pathname);
      for (let hops = 0; hops < 5 && answer.headers.has("location"); hops++) {
        url = new URL(answer.headers.get("location") ?? "", url);
        if (url.port !== String(nextPort)) break;
        answer = await asks(url.pathname);
      }
      await answer.arrayBuffer();
      // A slash at the end is taken off and a language is added; anywhere else a redirect of the configuration leads.
      const isSame = url.pathname.endsWith(one.path.replace(/\/$/, ""));
      if (url.port !== String(nextPort) || (answer.ok && !isSame)) served.set(askedKey(one), "redirect");
      else if (answer.ok) {
        const name = decodeURIComponent(url.pathname).replace(/^\/|\/$/g, "");
        const isPage = answer.headers.get("content-type")?.startsWith("text/html") === true;
        served.set(askedKey(one), isPage ? `${name === "" ? "index" : name}.html` : name);
      }
    }
  } finally {
    server.removeAllListeners("exit");
    server.kill();
  }
  return served;
}

interface MintlifyGraph {
  nodes: Readonly<Record<string, { headingSlugs: Set<string> | null }>>;
  precomputeFileResolutions(): void;
  getBrokenInternalLinks(options: {
    checkAnchors: boolean;
  }): { relativeDir: string; filename: string; originalPath: string }[];
}

/** Mintlify publishes no builder; what its `broken-links` command runs is published. */
async function mintlifyGraph(folder: string): Promise<MintlifyGraph> {
  const file = "node_modules/@mintlify/link-rot/dist/static-checking/getBrokenInternalLinks.js";
  const { buildGraph } = await import(join(homeOf(folder), file));
  const graph: MintlifyGraph = await buildGraph(folder);
  graph.precomputeFileResolutions();
  return graph;
}

function mintlifyBroken(graph: MintlifyGraph, checkAnchors: boolean): string[] {
  return graph
    .getBrokenInternalLinks({ checkAnchors })
    .map(({ relativeDir, filename, originalPath }) => `${joinPath(relativeDir, filename)} ${originalPath}`);
}

const mintlify: Builder = {
  framework: "mintlify",
  packages: { "@mintlify/common": "1.0.1183", "@mintlify/link-rot": "3.0.1387" },
  async make(folder) {
    const broken = mintlifyBroken(await mintlifyGraph(folder), true);
    return { isGood: broken.length === 0, log: broken.join("\n") };
  },
  output: null,
  pageUrl: (file) => `/${file}`,
  versions: async () => mintlify.packages,
  async read(_ran, _site, folder) {
    const graph = await mintlifyGraph(folder);
    const broken = new Set(mintlifyBroken(graph, false));
    const anchorless = new Set(mintlifyBroken(graph, true));
    const ids = new Map<string, readonly string[]>();
    for (const [path, node] of Object.entries(graph.nodes))
      if (node.headingSlugs !== null) ids.set(path, [...node.headingSlugs]);
    return {
      isReported: ({ path, target }) => broken.has(`${path} ${target}`),
      lacksAnchor: ({ path, target }) => anchorless.has(`${path} ${target}`),
      ids,
    };
  },
};

/** Newer than most systems have: since 0.123 a site in several languages has a hook of Hugo's own that finds files by links. */
const runHugo = (args: string, folder: string): Promise<Ran> =>
  run("sh", ["-c", `${homeOf(folder)}/usr/bin/hugo ${args}`], folder);

const hugo: Builder = {
  framework: "hugo",
  packages: {},
  archives: ["h/hugo/hugo_0.131.0-1_amd64.deb"],
  make: (folder) => runHugo("--minify=false", folder),
  output: "public",
  pageUrl: indexUrl,
  versions: async (folder) => ({ hugo: /v([\d.]+)/.exec((await runHugo("version", folder)).log)?.[1] ?? "" }),
  read: async () => ({ isReported: (_link, href) => href.includes("ref-not-found") }),
};

const jekyll: Builder = {
  framework: "jekyll",
  packages: {},
  make: runSystem("jekyll build --disable-disk-cache"),
  output: "_site",
  pageUrl: indexUrl,
  async versions(folder) {
    const script = "require 'jekyll'; require 'kramdown'; puts [Jekyll::VERSION, Kramdown::VERSION].join(' ')";
    const [jekyllVersion = "", kramdown = ""] = (await run("ruby", ["-e", script], folder)).log.trim().split(" ");
    return { jekyll: jekyllVersion, kramdown };
  },
  read: async () => ({}),
};

const sphinx: Builder = {
  framework: "sphinx",
  packages: {},
  make: (folder, env) => {
    const strict = env?.ORACLE_STRICT === "1" ? "-W --keep-going" : "-q";
    return runSystem(`sphinx-build -b html ${strict} . _build`)(folder);
  },
  output: "_build",
  pageUrl: indexUrl,
  async versions(folder) {
    const [sphinxVersion = "", myst = ""] = await pythonVersions("sphinx-build", ["sphinx", "myst_parser"], folder);
    return { sphinx: sphinxVersion, "myst-parser": myst };
  },
  async read({ log }, site, folder) {
    const reported = new Set<string>();
    for (const found of log.matchAll(/^(.+?):\d+: WARNING: .*?(?:not found|not in current).*?: ?'?([^'\s]+)'?.*$/gm))
      reported.add(`${found[1]?.slice(folder.length + 1)} ${found[2]}`);
    // Links name headings by MyST's own ids, as deep as the configuration says; docutils writes others.
    const ids = new Map<string, string[]>();
    for (const path of site.headings.length === 0 ? [] : [site.headingsPath, ...site.blocks.values()]) {
      const { log: html } = await run("myst-anchors", ["-l", "4", path], folder);
      ids.set(
        path,
        [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id),
      );
    }
    return {
      // What it cannot find it writes as plain text.
      dropsBroken: true,
      isReported: ({ path, target }) => reported.has(`${path} ${target}`),
      ids,
    };
  },
};

/** The libraries that it was made for lie beside it. */
async function runMdbook(args: string, folder: string): Promise<Ran> {
  const home = homeOf(folder);
  const libraries = `${home}/usr/lib/x86_64-linux-gnu`;
  const loader = `${libraries}/ld-linux-x86-64.so.2 --library-path ${libraries}:/usr/lib/x86_64-linux-gnu`;
  return run("sh", ["-c", `${loader} ${home}/usr/bin/mdbook ${args}`], folder);
}

const mdbook: Builder = {
  framework: "mdbook",
  packages: {},
  archives: ["m/mdbook/mdbook_0.4.48+ds-2_amd64.deb", "g/glibc/libc6_2.41-12+deb13u4_amd64.deb"],
  make: (folder) => runMdbook("build", folder),
  output: "book",
  pageUrl: indexUrl,
  versions: async (folder) => ({ mdbook: /v([\d.]+)/.exec((await runMdbook("--version", folder)).log)?.[1] ?? "" }),
  read: async () => ({}),
};

/** What Docsify shows at a route, in a browser: the HTML of its text, with the addresses of links as the browser has them. */
type ShowRoute = (route: string) => Promise<string>;

/** Serves a site on the loopback and opens its routes in Chromium: Docsify makes pages in the browser only. */
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

/** Runs in the page. A route is written as one segment, as it is; a file of the server below `/~`. */
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

const docsify: Builder = {
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

/** Fumadocs' loader over the files of a site, as an application makes it. */
async function fumadocsSource(folder: string) {
  const use = async (file: string) => {
    const module = await import(join(homeOf(folder), "node_modules", file));
    return module.default ?? module;
  };
  const content = join(folder, "content/docs");
  const paths = (await readdir(content, { recursive: true })).filter((path) => /\.mdx?$/.test(path));
  const pages = paths.map((path) => ({
    type: "page",
    path,
    absolutePath: join(content, path),
    data: { title: path },
  }));
  const { loader } = await use("fumadocs-core/dist/source/index.js");
  // The same text that Emend reads in the application's source.
  const i18n = await readFile(join(folder, "lib/i18n.ts"), "utf8").catch(() => null);
  const languages =
    i18n === null ? {} : { i18n: JSON.parse(i18n.replace(/^.*?\(|\);\n$/gs, "").replace(/(\w+):/g, '"$1":')) };
  return { use, source: loader({ baseUrl: "/docs", source: { files: pages }, ...languages }) };
}

/** The file that its page is written to here; the application asks the loader for it by the segments of the address. */
const fumadocsFile = (url: string): string => `${decodeURI(url).slice(1)}.html`;

const fumadocs: Builder = {
  framework: "fumadocs",
  packages: {
    "fumadocs-core": "16.15.13",
    "fumadocs-mdx": "15.4.3",
    "@mdx-js/mdx": "3.1.1",
    react: "19.3.1",
    "react-dom": "19.3.1",
  },
  async make(folder) {
    const { use, source } = await fumadocsSource(folder);
    const [{ evaluate }, { mdxPreset }, { remarkInclude }, runtime, { createElement }, { renderToStaticMarkup }] =
      await Promise.all(
        [
          "@mdx-js/mdx/index.js",
          "fumadocs-core/dist/content/mdx/preset-runtime.js",
          "fumadocs-mdx/dist/config/index.js",
          "react/jsx-runtime.js",
          "react/index.js",
          "react-dom/server.node.js",
        ].map(use),
      );
    const remarkImageOptions = { publicDir: join(folder, "public"), useImport: false, onError: "ignore" };
    const preset = await mdxPreset({
      remarkImageOptions,
      rehypeCodeOptions: false,
      remarkPlugins: (plugins: unknown[]) => [remarkInclude, ...plugins],
    });
    for (const page of source.getPages()) {
      const text = (await readFile(page.absolutePath, "utf8")).replace(/^---\n[\s\S]*?\n---\n/, "");
      const { default: Content } = await evaluate({ value: text, path: page.absolutePath }, { ...preset, ...runtime });
      // What `createRelativeLink` does in the page of its template.
      const a = (props: { href: string }) =>
        createElement("a", { ...props, href: source.resolveHref(props.href, page) });
      const file = join(folder, "out", fumadocsFile(page.url));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, renderToStaticMarkup(createElement(Content, { components: { a } })));
    }
    return { isGood: true, log: "" };
  },
  output: "out",
  pageUrl: (file) => `/${file.replace(/\.html$/, "")}`,
  async answers(folder, paths) {
    const { source } = await fumadocsSource(folder);
    const found = new Map<string, string>();
    for (const path of paths) {
      const slugs = /^\/docs(?:\/(.*?))?\/?$/.exec(path);
      const page = slugs === null ? undefined : source.getPage(slugs[1]?.split("/") ?? []);
      if (page !== undefined) found.set(path, await readFile(join(folder, "out", fumadocsFile(page.url)), "utf8"));
    }
    return found;
  },
  versions: async () => fumadocs.packages,
  async read(_ran, site, folder) {
    const { source } = await fumadocsSource(folder);
    return {
      async askServer(asked) {
        const served = new Map<string, string>();
        for (const one of asked) {
          // Next takes the slash at the end off.
          const [, language, slugs] = /^(?:\/([a-z]{2}))?\/docs(?:\/(.*?))?\/?$/.exec(one.path) ?? ["", "", null];
          const page = slugs === null ? undefined : source.getPage(slugs?.split("/") ?? [], language);
          const name = decodeURIComponent(one.path.slice(1));
          if (page !== undefined) served.set(askedKey(one), fumadocsFile(page.url));
          else if (site.files[`public/${name}`] !== undefined) served.set(askedKey(one), name);
        }
        return served;
      },
    };
  },
};
>>>>>>> 54edb77 (Follow doc roles, Fumadocs lists and tags that name their own folder)

export const builders: readonly Builder[] = [
  mkdocs,
  vitepress,
  docusaurus,
  starlight,
  nextra,
  mintlify,
  hugo,
  jekyll,
  sphinx,
  mdbook,
  docsify,
  fumadocs,
];
