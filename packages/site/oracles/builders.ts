import { execFile, spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { dirOf, joinPath } from "../src/links/route.ts";
import { splitTarget } from "../src/links/target.ts";
import { type OracleSite, type PlacedLink, picture } from "./layouts.ts";

/** One builder: what is installed for it, and what it says of a site. */
export interface Builder {
  framework: string;
  /** From npm, with their exact versions. */
  packages: Readonly<Record<string, string>>;
  build(site: OracleSite, folder: string): Promise<Built>;
}

export interface Built {
  versions: Readonly<Record<string, string>>;
  /** The folder of what was made; null where the builder makes none. */
  output: string | null;
  /** What the site is served below. */
  base: string;
  /** The address of a page's HTML file, as browsers see it. */
  pageUrl(file: string): string;
  /** Whether the builder calls a link broken, by what it made of it and the address of its page. */
  isReported(link: PlacedLink, href: string, pageUrl: string): boolean;
  /** Whether it calls a link's fragment broken, where no output shows it. */
  lacksAnchor?(link: PlacedLink): boolean;
  /** Asks the builder's own server for addresses: the file of each, or "redirect"; null where it has none. */
  askServer?(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Ids by page, where no output shows them. */
  ids?: ReadonlyMap<string, readonly string[]>;
}

/** Outside of the repository: builders look upwards for packages and workspaces. */
const cacheFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "emend-oracles");

const timeoutMs = 45 * 60_000;
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

interface Ran {
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

export async function install({ framework, packages }: Builder): Promise<string> {
  const folder = join(cacheFolder, framework);
  await mkdir(folder, { recursive: true });
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

async function buildOrThrow(ran: Ran, name: string): Promise<string> {
  if (!ran.isGood) throw new Error(`${name} did not build:\n${ran.log.slice(-4000)}`);
  return ran.log;
}

/** A link by its page and the file that it names, as MkDocs prints it. */
function named(path: string, target: string, root: string): string {
  const inRoot = path.slice(root.length + 1);
  return `${inRoot} ${joinPath(dirOf(inRoot), splitTarget(target).path) ?? target}`;
}

const mkdocs: Builder = {
  framework: "mkdocs",
  packages: {},
  async build(site, folder) {
    const log = await buildOrThrow(await run("mkdocs", ["build", "--quiet"], folder), site.name);
    const reported = new Set<string>();
    for (const found of log.matchAll(/file '([^']+)' contains a link to '([^']+)' which is not found/g))
      reported.add(`${found[1]} ${found[2]}`);
    const { log: version } = await run("mkdocs", ["--version"], folder);
    // The interpreter that runs MkDocs knows which extensions it loads.
    const ask = "import markdown, pymdownx; print(markdown.__version__, pymdownx.__version__)";
    const script = `$(head -n 1 "$(command -v mkdocs)" | cut -c 3-) -c "${ask}"`;
    const [markdown = "", pymdownx = ""] = (await run("sh", ["-c", script], folder)).log.trim().split(" ");
    return {
      versions: { mkdocs: /version (\S+)/.exec(version)?.[1] ?? "", markdown, "pymdown-extensions": pymdownx },
      output: join(folder, "site"),
      base: "/",
      pageUrl: (file) => `/${file.replace(/index\.html$/, "")}`,
      isReported: ({ path, target }) => reported.has(named(path, target, "docs")),
    };
  },
};

const vitepress: Builder = {
  framework: "vitepress",
  packages: { vitepress: "1.6.4" },
  async build(site, folder) {
    const program = join(dirname(dirname(folder)), "node_modules/vitepress/bin/vitepress.js");
    const strict = await run(process.execPath, [program, "build", "docs"], folder);
    const reported = new Set<string>();
    for (const found of strict.log.matchAll(/Found dead link (.+?) in file (.+)/g))
      reported.add(`${found[2]?.replace(/\.md$/, "")} ${decodeURI(found[1] ?? "")}`);
    const lenient = { ORACLE_LENIENT: "1" };
    await buildOrThrow(await run(process.execPath, [program, "build", "docs"], folder, lenient), site.name);
    const config = Object.entries(site.files).find(([path]) => path.includes("/.vitepress/config"))?.[1] ?? "";
    const base = /base: "([^"]+)"/.exec(config)?.[1] ?? "/";
    return {
      versions: vitepress.packages,
      output: join(folder, "docs/.vitepress/dist"),
      base,
      pageUrl: (file) => `/${file.replace(/(?:^|(?<=\/))index\.html$/, "")}`,
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
      [
        "core",
        "theme-classic",
        "plugin-content-docs",
        "plugin-content-pages",
        "plugin-content-blog",
        "plugin-client-redirects",
      ].map((name) => [`@docusaurus/${name}`, docusaurusVersion]),
    ),
    react: "19.3.1",
    "react-dom": "19.3.1",
  },
  async build(site, folder) {
    const program = join(dirname(dirname(folder)), "node_modules/@docusaurus/core/bin/docusaurus.mjs");
    const log = await buildOrThrow(await run(process.execPath, [program, "build"], folder), site.name);
    const reported = new Set<string>();
    let page = "";
    for (const line of log.split("\n")) {
      page = /source page path = (\S+?):?$/.exec(line.trim())?.[1] ?? page;
      const target = /-> linking to (.+?)(?: \(resolved as: .*\))?$/.exec(line.trim())?.[1];
      if (target !== undefined) reported.add(`${page} ${target}`);
    }
    const pageUrl = (file: string): string => `/${file.replace(/(?:^|\/)index\.html$/, "").replace(/\.html$/, "")}`;
    return {
      versions: { docusaurus: docusaurusVersion },
      output: join(folder, "build"),
      base: "/",
      pageUrl,
      isReported: (_link, href, page) => reported.has(`${page} ${href}`),
    };
  },
};

const starlight: Builder = {
  framework: "starlight",
  packages: { astro: "7.3.5", "@astrojs/starlight": "0.42.4" },
  async build(site, folder) {
    const program = join(dirname(dirname(folder)), "node_modules/astro/bin/astro.mjs");
    await buildOrThrow(await run(process.execPath, [program, "build"], folder), site.name);
    return {
      versions: starlight.packages,
      output: join(folder, "dist"),
      base: "/",
      pageUrl: (file) => `/${file.replace(/index\.html$/, "")}`,
      isReported: () => false,
    };
  },
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
  async build(site, folder) {
    const program = join(dirname(dirname(folder)), "node_modules/next/dist/bin/next");
    await buildOrThrow(await run(process.execPath, [program, "build"], folder), site.name);
    return {
      versions: nextra.packages,
      output: join(folder, ".next/server/app"),
      base: "/",
      pageUrl: (file) => `/${file.replace(/^index\.html$/, "").replace(/\.html$/, "")}`,
      isReported: () => false,
      askServer: (paths) => askNext(program, folder, paths),
    };
  },
};

const nextPort = 39_413;

/** Starts Next's own server for as long as it is asked. */
async function askNext(program: string, cwd: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
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
    for (const path of paths) {
      const answer = await fetch(`http://127.0.0.1:${nextPort}${path}`, { redirect: "manual" });
      const location = answer.headers.get("location");
      // A slash at the end is taken off; anywhere else a redirect of the configuration leads.
      const isSlash = location !== null && new URL(location, "http://x").pathname === path.replace(/\/$/, "");
      const final = isSlash ? await fetch(`http://127.0.0.1:${nextPort}${path.replace(/\/$/, "")}`) : answer;
      await final.arrayBuffer();
      if (location !== null && !isSlash) served.set(path, "redirect");
      else if (final.ok) {
        const name = decodeURIComponent(path).replace(/^\/|\/$/g, "");
        const isPage = final.headers.get("content-type")?.startsWith("text/html") === true;
        served.set(path, isPage ? `${name === "" ? "index" : name}.html` : name);
      }
    }
  } finally {
    server.removeAllListeners("exit");
    server.kill();
  }
  return served;
}

const mintlify: Builder = {
  framework: "mintlify",
  packages: { "@mintlify/common": "1.0.1183", "@mintlify/link-rot": "3.0.1387" },
  async build(_site, folder) {
    const { buildGraph } = await import(
      join(dirname(dirname(folder)), "node_modules/@mintlify/link-rot/dist/static-checking/getBrokenInternalLinks.js")
    );
    const graph = await buildGraph(folder);
    graph.precomputeFileResolutions();
    const reported = (checkAnchors: boolean): Set<string> => {
      const links: { relativeDir: string; filename: string; originalPath: string }[] = graph.getBrokenInternalLinks({
        checkAnchors,
      });
      return new Set(
        links.map(({ relativeDir, filename, originalPath }) => `${joinPath(relativeDir, filename)} ${originalPath}`),
      );
    };
    const broken = reported(false);
    const anchorless = reported(true);
    const ids = new Map<string, readonly string[]>();
    for (const [path, node] of Object.entries<{ headingSlugs: Set<string> | null }>(graph.nodes))
      if (node.headingSlugs !== null) ids.set(path, [...node.headingSlugs]);
    return {
      versions: mintlify.packages,
      output: null,
      base: "/",
      pageUrl: (file) => `/${file}`,
      isReported: ({ path, target }) => broken.has(`${path} ${target}`),
      lacksAnchor: ({ path, target }) => anchorless.has(`${path} ${target}`),
      ids,
    };
  },
};

const hugo: Builder = {
  framework: "hugo",
  packages: {},
  async build(site, folder) {
    await buildOrThrow(await run("hugo", ["--minify=false"], folder), site.name);
    return {
      versions: { hugo: /v([\d.]+)/.exec((await run("hugo", ["version"], folder)).log)?.[1] ?? "" },
      output: join(folder, "public"),
      base: "/",
      pageUrl: (file) => `/${file.replace(/index\.html$/, "")}`,
      isReported: (_link, href) => href.includes("ref-not-found"),
    };
  },
};

const jekyll: Builder = {
  framework: "jekyll",
  packages: {},
  async build(site, folder) {
    await buildOrThrow(await run("jekyll", ["build", "--disable-disk-cache"], folder), site.name);
    const script = "require 'jekyll'; require 'kramdown'; puts [Jekyll::VERSION, Kramdown::VERSION].join(' ')";
    const [jekyllVersion = "", kramdown = ""] = (await run("ruby", ["-e", script], folder)).log.trim().split(" ");
    return {
      versions: { jekyll: jekyllVersion, kramdown },
      output: join(folder, "_site"),
      base: "/",
      pageUrl: (file) => `/${file.replace(/(?:^|(?<=\/))index\.html$/, "")}`,
      isReported: () => false,
    };
  },
};

const sphinx: Builder = {
  framework: "sphinx",
  packages: {},
  async build(site, folder) {
    const log = await buildOrThrow(await run("sphinx-build", ["-b", "html", "-q", ".", "_build"], folder), site.name);
    const reported = new Set<string>();
    for (const found of log.matchAll(/^(.+?):\d+: WARNING: .*?(?:not found|not in current).*?: ?'?([^'\s]+)'?.*$/gm))
      reported.add(`${found[1]?.slice(folder.length + 1)} ${found[2]}`);
    const script = "import sphinx, myst_parser; print(sphinx.__version__, myst_parser.__version__)";
    const asked = await run(
      "sh",
      ["-c", `$(head -n 1 "$(command -v sphinx-build)" | cut -c 3-) -c "${script}"`],
      folder,
    );
    const [sphinxVersion = "", myst = ""] = asked.log.trim().split(" ");
    return {
      versions: { sphinx: sphinxVersion, "myst-parser": myst },
      output: join(folder, "_build"),
      base: "/",
      pageUrl: (file) => `/${file.replace(/(?:^|(?<=\/))index\.html$/, "")}`,
      isReported: ({ path, target }) => reported.has(`${path} ${target}`),
    };
  },
};

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
];
