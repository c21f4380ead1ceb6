// `npm run test:builders`: builds a small site with each real builder that is installed here, before and after a change,
// in the sandbox. `-- hugo vitepress` for some. npm's builders are installed from the registry.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFetch } from "@emend/base/network.ts";
import { runProgram } from "@emend/testkit/run-program.ts";
import { openTestTrees } from "@emend/testkit/test-tree.ts";
import { createOverlay, startBound, type Tree } from "@emend/tree";
import { createBuilds } from "../src/index.ts";
import { sites, type TrialSite } from "./sites.ts";

const wanted = process.argv.slice(2);
const dir = await mkdtemp(join(tmpdir(), "emend-try-builders-"));
const network = createFetch({});
const trees = await openTestTrees();
const signal = new AbortController().signal;
const limits = { timeoutMs: 600_000, memoryBytesMax: 3 * 2 ** 30, processesMax: 256, diskBytesMax: 2 * 2 ** 30 };
const config = { atOnceMax: 1, limits, registry: "https://registry.npmjs.org/", path: process.env.PATH ?? "" };
const builds = createBuilds({ start: startBound, fetch: network.fetch, config, dir });
let failures = 0;
/** Their builders write no site that can be served as files. */
const withoutSite: ReadonlySet<string> = new Set(["mintlify"]);

/** Takes what the manifest names at its newest allowed versions. */
async function lockOf(packages: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> {
  const folder = await mkdtemp(join(tmpdir(), "emend-lock-"));
  try {
    const manifest = JSON.stringify({ name: "docs", private: true, dependencies: packages });
    await writeFile(join(folder, "package.json"), manifest);
    await runProgram("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--prefix", folder]);
    return { "package.json": manifest, "package-lock.json": await readFile(join(folder, "package-lock.json"), "utf8") };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function withEdits(base: Awaited<ReturnType<typeof trees.open>>, edits: Readonly<Record<string, string>>) {
  const overlay = await createOverlay(base);
  for (const [path, text] of Object.entries(edits)) await overlay.set(path, Buffer.from(text));
  return overlay;
}

async function tryBuilder(site: TrialSite): Promise<void> {
  const base = await trees.open({ ...site.files, ...(site.packages && (await lockOf(site.packages))) });
  const settings = {
    on: true,
    command: null,
    output: null,
    samples: [],
    service: null,
    packages: site.packages ? "install" : "none",
  } as const;
  const timed = async <T>(work: () => Promise<T>) => {
    const startedAt = performance.now();
    return { answer: await work(), ms: Math.round(performance.now() - startedAt) };
  };
  const task = { base, docsDir: "", settings };
  const judge = (head: Tree, edits: object) =>
    builds.judge({ ...task, head, paths: Object.keys(edits), isAllowedHost: () => false }, signal);
  const first = await timed(() => builds.tryBase(task, signal));
  if (!first.answer.isBuilt) {
    const isMissing = first.answer.words.includes("is not installed on this server");
    if (!isMissing) failures += 1;
    for (const name of isMissing ? [] : await readdir(join(dir, "results")).catch(() => [])) {
      console.log(JSON.parse(await readFile(join(dir, "results", name), "utf8")).output.slice(-4_000));
    }
    return console.log(`${isMissing ? "left out" : "FAILED"}  ${site.framework}: ${first.answer.words}`);
  }
  const again = await timed(() => builds.tryBase(task, signal));
  const head = await withEdits(base, site.fine);
  const fine = await timed(() => judge(head, site.fine));
  const asked = { ...task, head, paths: Object.keys(site.fine), pagesMax: 1 };
  const pictures = await timed(async () => (await builds.takePictures(asked, signal)) ?? []);
  const broken = await timed(async () => judge(await withEdits(base, site.broken), site.broken));
  const [found] = broken.answer;
  const place = found && `${found.path}:${found.line}`;
  // One page on two sides, in two windows.
  const isSeen = pictures.answer.length === (withoutSite.has(site.framework) ? 0 : 4);
  const isRight = isSeen && fine.answer.length === 0 && found?.severity === site.severity && place === site.place;
  if (!isRight) failures += 1;
  console.log(
    `${isRight ? "ok" : "FAILED"}  ${site.framework}: base ${first.ms} ms, again ${again.ms} ms, change ${fine.ms} ms, ${pictures.answer.length} pictures ${pictures.ms} ms; ${found?.severity ?? "nothing"} at ${place}: ${found?.message}`,
  );
  if (!isRight) console.log(JSON.stringify({ fine: fine.answer, broken: broken.answer }, null, 1));
}

try {
  for (const site of sites.filter(({ framework }) => wanted.length === 0 || wanted.includes(framework))) {
    await tryBuilder(site);
  }
} finally {
  await trees.close();
  await network.close();
  await rm(dir, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;
