// Builders from npm that write HTML files, and Mintlify's link checker.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { joinPath } from "../../src/links/target.ts";
import { type Asked, askedKey, type Builder, bareUrl, homeOf, indexUrl, runNode } from "./builder.ts";

export const vitepress: Builder = {
  framework: "vitepress",
  packages: { vitepress: "1.6.4" },
  make: runNode("vitepress/bin/vitepress.js build docs"),
  output: "docs/.vitepress/dist",
  pageUrl: indexUrl,
  versions: async () => vitepress.packages,
  async read(_ran, site, folder) {
    // A separate folder: a strict build stops early and must not replace the output of the lenient build.
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
export const docusaurus: Builder = {
  framework: "docusaurus",
  packages: {
    ...Object.fromEntries(
      ["core", "preset-classic", "plugin-client-redirects"].map((name) => [`@docusaurus/${name}`, docusaurusVersion]),
    ),
    // Newer versions need packages that are not available.
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

export const starlight: Builder = {
  framework: "starlight",
  packages: { astro: "7.3.5", "@astrojs/starlight": "0.42.4" },
  make: runNode("astro/bin/astro.mjs build"),
  output: "dist",
  pageUrl: indexUrl,
  versions: async () => starlight.packages,
  read: async (_ran, site) => ({ base: `${/base: "([^"]+)"/.exec(site.files["astro.config.mjs"] ?? "")?.[1] ?? ""}/` }),
};

export const nextra: Builder = {
  framework: "nextra",
  packages: {
    nextra: "4.6.1",
    "nextra-theme-docs": "4.6.1",
    next: "15.5.29",
    react: "19.3.1",
    "react-dom": "19.3.1",
    // Newer versions reject the theme's own layout.
    zod: "4.1.12",
  },
  make: runNode("next/dist/bin/next build"),
  output: ".next/server/app",
  pageUrl: bareUrl,
  versions: async () => nextra.packages,
  read: async (_ran, _site, folder) => ({ askServer: (asked) => askNext(folder, asked) }),
};

const nextPort = 39_413;

/** Runs Next's own server during the requests. A reader's language is set by a cookie. */
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
      // Next removes a trailing slash and adds a language. Any other redirect comes from the configuration.
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

/** Mintlify publishes no builder, but it publishes the library behind its `broken-links` command. */
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

export const mintlify: Builder = {
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
