// Works on hostile repositories, changes and answers, and prints for each how long the main thread was busy without a pause,
// and the memory: node packages/lab/attack/stalls.ts [SEED] [PAGES]. A process of its own, so that nothing else counts.

import { createContentJudge, reviewChange } from "@emend/review";
import { checkSite, fixLinks, openSite, readSiteReferences } from "@emend/site";
import { openTestTrees } from "@emend/testkit/test-tree.ts";
import { createOverlay, siteTreeOf } from "@emend/tree";
import { growthInputs, staircase } from "./growth/inputs.ts";

const seed = Number(process.argv[2] ?? 1);
const count = Number(process.argv[3] ?? 54);
const pageCharacters = 300_000;
const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 10_000_000 };

/** Every so many of the texts that grow. The seed says where to start. */
function texts(count: number, characters: number): string[] {
  const all = [...growthInputs({ seed, pairs: 20 })];
  return Array.from({ length: count }, (_, index) => {
    const input = all[(seed + Math.floor((index * all.length) / count)) % all.length];
    return input?.grow(characters) ?? "";
  });
}

/** In CPU time of this thread: neither other processes count, nor the threads that should do the work. */
async function measure<T>(what: string, work: () => Promise<T>): Promise<T> {
  let [ms, rssMb, isOver] = [0, 0, false];
  let before = process.threadCpuUsage();
  const tick = () => {
    const { user, system } = process.threadCpuUsage(before);
    ms = Math.max(ms, (user + system) / 1000);
    rssMb = Math.max(rssMb, process.memoryUsage.rss() / 2 ** 20);
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  const result = await work();
  tick();
  isOver = true;
  console.log(JSON.stringify({ what, ms: Math.round(ms), rssMb: Math.round(rssMb) }));
  return result;
}

const trees = await openTestTrees();
const pages = [
  ...texts(count, pageCharacters),
  staircase("`", pageCharacters),
  "`a ".repeat(pageCharacters / 3),
  "{: #a ".repeat(pageCharacters / 6),
].map((text, index) => [`docs/page-${index}.md`, `[a](missing.md)\n\n${text}`] as const);
const tree = await trees.open({ "mkdocs.yml": "site_name: x\n", ...Object.fromEntries(pages) });
try {
  const site = await measure("open a site", () => openSite(siteTreeOf(tree)));
  await measure("check it", () => checkSite(site));
  await measure("fix its links", () => fixLinks(site));
  await measure("read the code that it names", () => readSiteReferences(site));

  const overlay = await createOverlay(tree);
  for (const [index, text] of texts(2, 10_000).entries()) await overlay.set(`docs/new-${index}.md`, Buffer.from(text));
  await measure("review a change", () => reviewChange({ base: tree, overlay, policy }, AbortSignal.timeout(100_000)));

  const content = Buffer.from("*a ".repeat(10_000).concat("\n\n").repeat(100));
  const vetting = createContentJudge(tree, { policy, asked: [] });
  const edited = [{ path: "docs/page-0.md", mode: "100644" as const, content }];
  await measure("check a hundred edits", () => vetting.judge(edited, AbortSignal.timeout(100_000)));
} finally {
  await trees.close();
}
