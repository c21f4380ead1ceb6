import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { trySandbox } from "@emend/runners";
import { createOverlay, startBound, type Tree } from "@emend/tree";
import { expect, it } from "vitest";
import { limits, useBuilds } from "../test/use-builds.ts";
import { type BuildsConfig, createBuilds } from "./builds.ts";
import type { BuildSettings } from "./plan.ts";

const trial = await trySandbox(startBound, process.env.PATH ?? "");
const builds = it.skipIf(trial.kind !== "usable");
const signal = new AbortController().signal;

/** A builder: warns of marked lines, and refuses pages with a broken one. It counts its runs nowhere: nothing stays. */
const builder = `
import { readdirSync, readFileSync, writeFileSync, mkdirSync } from "node:fs";
mkdirSync("out");
let code = 0;
for (const name of readdirSync("docs")) {
  readFileSync("docs/" + name, "utf8").split("\\n").forEach((line, at) => {
    if (line.includes("odd")) console.error(\`WARNING: docs/\${name}:\${at + 1}: odd line\`);
    if (line.includes("broken")) { console.error(\`ERROR: \${process.cwd()}/docs/\${name}:\${at + 1}:3: broken line\`); code = 1; }
  });
  writeFileSync("out/" + name + ".html", "built");
}
process.exitCode = code;
`;
const files = { "docs/index.md": "# Home\n\nodd words\n", "docs/other.md": "# Other\n", "build.mjs": builder };
const settings: BuildSettings = {
  on: true,
  command: "node build.mjs",
  output: null,
  samples: [],
  service: null,
  packages: "none",
};
const asked = { paths: [], isAllowedHost: () => false };

const bench = useBuilds();

async function judge(
  head: Readonly<Record<string, string>>,
  own: Partial<BuildSettings> = {},
  base: Tree | null = null,
) {
  const before = base ?? (await bench.trees.open(files));
  const after = await createOverlay(await bench.trees.open(files));
  for (const [path, text] of Object.entries(head)) await after.set(path, Buffer.from(text));
  return bench
    .open()
    .judge({ base: before, head: after, docsDir: "docs", settings: { ...settings, ...own }, ...asked }, signal);
}

builds("says what a change newly breaks, where it is, and nothing of what was there (needs bubblewrap)", async () => {
  // The old warning moved by two lines.
  const index = "# Home\n\nMore.\n\nodd words\nand a broken one\n";
  expect(await judge({ "docs/index.md": index })).toEqual([
    {
      check: "build",
      severity: "error",
      path: "docs/index.md",
      line: 6,
      column: 3,
      message: "the build command: ERROR: docs/index.md:6:3: broken line",
    },
  ]);
});

builds("a new warning does not refuse a change (needs bubblewrap)", async () => {
  expect(await judge({ "docs/other.md": "# Other\n\nodd\n" })).toMatchObject([
    { severity: "warning", path: "docs/other.md", line: 3 },
  ]);
});

builds("a change that builds like its base has no finding (needs bubblewrap)", async () => {
  expect(await judge({ "docs/other.md": "# Others\n" })).toEqual([]);
});

builds("a refusal without a word is an error (needs bubblewrap)", async () => {
  const command = "! grep -q broken docs/*";
  expect(await judge({ "docs/other.md": "broken" }, { command })).toMatchObject([
    { severity: "error", path: "the site", message: expect.stringContaining("code 1: it printed nothing") },
  ]);
});

builds("a base that does not build either accuses nobody (needs bubblewrap)", async () => {
  expect(await judge({ "docs/other.md": "# Others\n" }, { command: "echo no config; exit 3" })).toMatchObject([
    { severity: "warning", message: expect.stringContaining("does not build the base branch either") },
  ]);
});

builds("builds the same files once, and keeps the result for the next process (needs bubblewrap)", async () => {
  const base = await bench.trees.open(files);
  const task = { base, docsDir: "docs", settings };
  expect(await bench.open().tryBase(task, signal)).toEqual({
    isBuilt: true,
    words: "the build command builds the base branch",
  });
  const [name = ""] = await readdir(join(bench.dir, "results"));
  const kept = JSON.parse(await readFile(join(bench.dir, "results", name), "utf8"));
  await writeFile(join(bench.dir, "results", name), JSON.stringify({ ...kept, code: 9 }));
  expect(await bench.open().tryBase(task, signal)).toMatchObject({
    isBuilt: false,
    words: expect.stringContaining("code 9"),
  });
});

it("says what is missing, and judges nothing", async () => {
  const judged = async (config: Partial<BuildsConfig>, own: Partial<BuildSettings> = {}) => {
    const base = await bench.trees.open(files);
    const task = { base, head: base, docsDir: "docs", settings: { ...settings, ...own }, ...asked };
    return (await bench.open(config).judge(task, signal)).map(({ severity, message }) => `${severity} ${message}`);
  };
  expect(await judged({ path: "/nowhere" })).toEqual([
    "info the site was not built: builds need a sandbox, and bubblewrap (bwrap) is not installed",
  ]);
  expect(await judged({ atOnceMax: 0 })).toEqual([
    "info the site was not built: this server builds nothing: EMEND_BUILDS_AT_ONCE is 0",
  ]);
});

builds("names the builder that a framework needs (needs bubblewrap)", async () => {
  const planned = async (more: Readonly<Record<string, string>>, own: Partial<BuildSettings> = {}) => {
    const base = await bench.trees.open({ "docs/index.md": "# Home\n", ...more });
    const task = { base, docsDir: "", settings: { ...settings, command: null, ...own } };
    const bwrap = trial.kind === "usable" ? trial.bwrap.replace(/\/bwrap$/, "") : "";
    // Only bubblewrap is there.
    await writeFile(join(bench.dir, "bwrap"), `#!/bin/sh\nexec ${bwrap}/bwrap "$@"\n`, { mode: 0o755 });
    return (await bench.open({ path: bench.dir }).tryBase(task, signal)).words;
  };
  expect(await planned({})).toContain("plain Markdown has no builder");
  expect(await planned({ "mkdocs.yml": "site_name: Docs\n" })).toContain("mkdocs is not installed on this server");
  expect(await planned({ "docs/.vitepress/config.mts": "export default {}\n" })).toContain(
    "Set build.packages to install",
  );
  const yarn = { "docs/.vitepress/config.mts": "export default {}\n", "yarn.lock": "" };
  expect(await planned(yarn, { packages: "install" })).toContain("this site has yarn.lock");
});

builds("of eight builds at once, only as many run as the operator allows (needs bubblewrap)", async () => {
  let running = 0;
  let most = 0;
  const start: typeof startBound = (options) => {
    const child = startBound(options);
    if (!options.args.some((arg) => arg.endsWith("/unpack.mts"))) return child;
    running += 1;
    most = Math.max(most, running);
    child.ended.finally(() => {
      running -= 1;
    });
    return child;
  };
  const fetch = () => Promise.reject(new Error("no network in this test"));
  const config = { atOnceMax: 2, limits, registry: "https://registry.invalid/", path: process.env.PATH ?? "" };
  const several = createBuilds({ start, fetch, config, dir: bench.dir });
  const built = Array.from({ length: 8 }, async (_, number) => {
    const base = await bench.trees.open({ ...files, "docs/other.md": `# Other ${number}\n` });
    return several.tryBase({ base, docsDir: "docs", settings }, signal);
  });
  expect((await Promise.all(built)).every(({ isBuilt }) => isBuilt)).toBe(true);
  expect(most).toBe(2);
});
