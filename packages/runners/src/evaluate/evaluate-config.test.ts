// Costly: a configuration is code of somebody else, and runs in a process only.
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startBound } from "@emend/tree";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { trySandbox } from "../sandbox.ts";
import { type Evaluation, evaluateConfig } from "./evaluate-config.ts";

const trial = await trySandbox(startBound, process.env.PATH ?? "");
const path = process.env.PATH ?? "";
const hasMkdocs = succeeds("mkdocs", ["--version"]);

function succeeds(program: string, args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "emend-site-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

type Limits = NonNullable<Parameters<typeof evaluateConfig>[0]["limits"]>;

/** Writes files and runs the first one. */
async function evaluate(framework: string, files: Record<string, string>, limits: Limits = {}): Promise<Evaluation> {
  if (trial.kind !== "usable") throw new Error(trial.words);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const [marker = ""] = Object.keys(files);
  const deps = { start: startBound, sandbox: trial, path, limits };
  return evaluateConfig(deps, { folder, marker, framework }, new AbortController().signal);
}

describe.skipIf(trial.kind !== "usable")("a configuration in the sandbox (needs bubblewrap)", () => {
  it("gives what Docusaurus' configuration computes, with paths as the site writes them", async () => {
    const result = await evaluate("docusaurus", {
      "website/docusaurus.config.ts": `
        import { old } from "./redirects";
        import versions from "./versions.json";
        const name: string = "app";
        export default async function config() {
          console.log("a line of its own");
          return {
            baseUrl: \`/\${name}/\`,
            i18n: { defaultLocale: "en", locales: ["en", ...versions.locales] },
            presets: [["classic", { docs: { path: require("node:path").resolve(__dirname, "../docs"), lastVersion: versions.last } }]],
            plugins: [function own() {}, ["@docusaurus/plugin-client-redirects", { redirects: old.map((from) => ({ from, to: "/new" })) }]],
          };
        }`,
      "website/redirects.ts": 'export const old = ["/a", "/b"];',
      "website/versions.json": '{ "locales": ["de"], "last": "2.0" }',
    });
    expect(result).toEqual({
      kind: "evaluated",
      values: {
        baseUrl: "/app/",
        i18n: { defaultLocale: "en", locales: ["en", "de"] },
        presets: [["classic", { docs: { path: "../docs", lastVersion: "2.0" } }]],
        plugins: [
          { $unknown: true },
          [
            "@docusaurus/plugin-client-redirects",
            {
              redirects: [
                { from: "/a", to: "/new" },
                { from: "/b", to: "/new" },
              ],
            },
          ],
        ],
      },
    });
  });

  it("gives Starlight's options, which are in no value of the configuration", async () => {
    const result = await evaluate("starlight", {
      "astro.config.mjs": `
        import { defineConfig } from "astro/config";
        import starlight from "@astrojs/starlight";
        import { locales } from "./config/locales.js";
        export default defineConfig({ base: "/docs", integrations: [starlight({ title: "T", locales })] });`,
      "config/locales.ts": "export const locales: object = { root: { lang: 'en' }, fr: { lang: 'fr' } };",
      "package.json": '{ "type": "module" }',
      "node_modules/astro/package.json":
        '{ "name": "astro", "exports": { "./config": "./config.js" }, "type": "module" }',
      "node_modules/astro/config.js": "export const defineConfig = (config) => config;",
    });
    expect(result).toMatchObject({
      kind: "evaluated",
      values: { base: "/docs", integrations: [{ options: { locales: { root: { lang: "en" }, fr: { lang: "fr" } } } }] },
    });
  });

  it("gives Next's redirects, which are a function, and VitePress' rewrites by page", async () => {
    const next = await evaluate("nextra", {
      "next.config.js": `
        const pairs = require("./redirects.json");
        module.exports = (phase) => ({
          trailingSlash: phase === "phase-production-build",
          redirects: async () => Object.entries(pairs).map(([source, destination]) => ({ source, destination, permanent: true })),
        });`,
      "redirects.json": '{ "/a": "/b" }',
    });
    expect(next).toEqual({
      kind: "evaluated",
      values: { trailingSlash: true, redirects: [{ source: "/a", destination: "/b", permanent: true }] },
    });
    const vitepress = await evaluate("vitepress", {
      "docs/.vitepress/config.mts": `
        export default { extends: { base: "/b/" }, srcDir: "src", rewrites: (id: string) => id.replace("pkg/", "") };`,
      "docs/src/pkg/page.md": "# Page\n",
    });
    expect(vitepress).toEqual({
      kind: "evaluated",
      values: { base: "/b/", srcDir: "src", rewrites: { "pkg/page.md": "page.md" } },
    });
  });

  it("gives what Sphinx' configuration computes", async () => {
    const result = await evaluate("sphinx", {
      "docs/conf.py": `
import os, settings_of_ours
extensions = ["myst_parser"] + settings_of_ours.more
exclude_patterns = [name for name in ("drafts", "_build")]
myst_heading_anchors = 1 + 2
html_extra_path = [os.path.abspath("extra")]
if tags.has("web"):
    exclude_patterns = []
print("a line of its own")
`.replace(
        "import os, settings_of_ours",
        "import os, sys; sys.path.insert(0, os.path.abspath('.'))\nimport settings_of_ours",
      ),
      "docs/settings_of_ours.py": 'more = ["sphinx.ext.autodoc"]\n',
    });
    expect(result).toEqual({
      kind: "evaluated",
      values: {
        extensions: ["myst_parser", "sphinx.ext.autodoc"],
        exclude_patterns: ["drafts", "_build"],
        myst_heading_anchors: 3,
        html_extra_path: ["extra"],
        hasSetup: false,
      },
    });
  });

  it("gives MkDocs' files with those of hooks and the theme, or says that MkDocs is missing", async () => {
    const result = await evaluate("mkdocs", {
      "mkdocs.yml": "site_name: S\nsite_url: https://example.org/s/\nhooks: [hooks.py]\n",
      "hooks.py": `
from mkdocs.structure.files import File
def on_config(config):
    config["site_url"] = config["site_url"] + "v2/"
    return config
def on_files(files, config):
    files.append(File("made.md", config["docs_dir"], config["site_dir"], config["use_directory_urls"]))
    return files
`,
      "docs/index.md": "# Home\n",
    });
    if (!hasMkdocs) {
      expect(result).toEqual({ kind: "failed", words: "ModuleNotFoundError: No module named 'mkdocs'" });
      return;
    }
    if (result.kind === "failed") throw new Error(result.words);
    const values = result.values as Record<string, unknown>;
    expect(values).toMatchObject({ docs_dir: "docs", site_url: "https://example.org/s/v2/", use_directory_urls: true });
    expect(values.pages).toEqual(["index.md", "made.md"]);
    expect(values.made).toContain("made.md");
    expect(values.made).toContain("img/favicon.ico");
  });

  it("says why a configuration cannot be loaded", async () => {
    const files = { "docusaurus.config.js": 'import { themes } from "prism-react-renderer"; export default {};' };
    expect(await evaluate("docusaurus", files)).toEqual({
      kind: "failed",
      words: expect.stringContaining("Cannot find package 'prism-react-renderer'"),
    });
    expect(await evaluate("docusaurus", { "docusaurus.config.js": "process.exit(3);" })).toEqual({
      kind: "failed",
      words: "it ended with code 3 and no values",
    });
    expect(await evaluate("sphinx", { "conf.py": "import sys\nsys.exit('not today')\n" })).toEqual({
      kind: "failed",
      words: "SystemExit: not today",
    });
  });

  it("keeps the environment, the host's files, the repository's settings and the network from a configuration", async () => {
    vi.stubEnv("EMEND_TEST_SECRET", "hunter2");
    const server = createServer((_request, response) => response.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const result = await evaluate("docusaurus", {
        "docusaurus.config.mjs": `
          import { readFileSync, readdirSync, writeFileSync } from "node:fs";
          const attempt = (run) => { try { return run(); } catch (error) { return error.code; } };
          const reached = await fetch("http://127.0.0.1:${port}").then((answer) => answer.text(), () => "refused");
          export default { baseUrl: JSON.stringify({
            secret: process.env.EMEND_TEST_SECRET ?? "none",
            names: Object.keys(process.env).sort(),
            host: attempt(() => readFileSync(${JSON.stringify(import.meta.filename)}, "utf8")),
            git: attempt(() => readFileSync(".git/config", "utf8")),
            wrote: attempt(() => writeFileSync("left-behind.txt", "x")),
            processes: readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length < 10,
            reached,
          }) };`,
        ".git/config": "token = hunter2\n",
      });
      if (result.kind === "failed") throw new Error(result.words);
      expect(JSON.parse((result.values as { baseUrl: string }).baseUrl)).toEqual({
        secret: "none",
        names: ["HOME", "LANG", "NODE_ENV", "PATH", "PWD", "TMPDIR"],
        host: "ENOENT",
        git: "ENOENT",
        wrote: "EROFS",
        processes: true,
        reached: "refused",
      });
      expect(await readdir(folder)).toEqual([".git", "docusaurus.config.mjs"]);
    } finally {
      server.close();
    }
  });

  it("ends a configuration that does not end, with all that it started", async () => {
    const forks = `
      import { spawn } from "node:child_process";
      for (let n = 0; n < 3; n++) spawn("sleep", ["600"], { detached: true, stdio: "inherit" }).unref();
      await new Promise(() => setInterval(() => {}, 1000));`;
    expect(await evaluate("docusaurus", { "docusaurus.config.mjs": forks }, { timeoutMs: 3000 })).toEqual({
      kind: "failed",
      words: "it did not end within 3 s",
    });
  });

  it("ends a configuration that takes too much memory", async () => {
    const greedy =
      "const all = []; for (;;) { all.push(new Uint8Array(2 ** 24).fill(1)); await new Promise(setImmediate); }";
    const limits = { memoryBytesMax: 512 * 2 ** 20 };
    expect(await evaluate("docusaurus", { "docusaurus.config.mjs": greedy }, limits)).toEqual({
      kind: "failed",
      words: expect.stringMatching(/^it used \d+ MiB of memory$/),
    });
  });

  it("drops what a configuration prints in masses, and takes no values from it", async () => {
    const chatty = `
      import { writeSync } from "node:fs";
      const block = Buffer.alloc(2 ** 20, "x");
      for (let n = 0; n < 256; n++) for (let at = 0; at < block.length; ) {
        try { at += writeSync(1, block, at); } catch (error) { if (error.code !== "EAGAIN") throw error; }
      }
      export default { baseUrl: "/" };`;
    expect(await evaluate("docusaurus", { "docusaurus.config.mjs": chatty })).toEqual({
      kind: "failed",
      words: "it printed more than 8 MiB",
    });
  });
});

it("says that Python is missing", async () => {
  await writeFile(join(folder, "conf.py"), "");
  const deps = { start: startBound, sandbox: { bwrap: "/none", own: [] }, path: "" };
  const task = { folder, marker: "conf.py", framework: "sphinx" };
  expect(await evaluateConfig(deps, task, new AbortController().signal)).toEqual({
    kind: "failed",
    words: "python3 is not installed",
  });
});
