import { checkSite, fixLinks, openSite, readSiteReferences } from "@emend/site";
import { afterAll, beforeAll, expect, it } from "vitest";
import { growthInputs, staircase } from "../attack/growth/inputs.ts";
import { longestTurn } from "../attack/main-thread.ts";
import { pageAfter, vetAnswer } from "../src/agent/vet-answer.ts";
import { createVetting } from "../src/review/judge-content.ts";
import { reviewChange } from "../src/review/review-change.ts";
import { createOverlay } from "../src/tree/overlay.ts";
import { type CommitTree, siteTreeOf } from "../src/tree/tree.ts";
import { sampleOf } from "./support/sample.ts";
import { openTestTrees, type TestTrees } from "./support/test-tree.ts";

/** The health check of a load balancer must never wait longer. */
const turnMsMax = 100;
const rssMbMax = 600;
const pageCharacters = 300_000;

let trees: TestTrees;
let tree: CommitTree;
beforeAll(async () => {
  trees = await openTestTrees();
  const pages = sampleOf([...growthInputs({ seed: 1, pairs: 20 })], 12).map(({ grow }) => grow(pageCharacters));
  pages.push(staircase("`", pageCharacters), "`a ".repeat(pageCharacters / 3), "{: #a ".repeat(pageCharacters / 6));
  const files = pages.map((text, index) => [`docs/page-${index}.md`, `[a](missing.md)\n\n${text}`] as const);
  tree = await trees.open({ "mkdocs.yml": "site_name: x\n", ...Object.fromEntries(files) });
});
afterAll(() => trees.close());

async function expectNoStall(what: string, work: () => Promise<unknown>): Promise<void> {
  const { ms, rssMb } = await longestTurn(work);
  expect({ what, ms, isShort: ms <= turnMsMax }).toMatchObject({ isShort: true });
  expect({ what, rssMb, isSmall: rssMb <= rssMbMax }).toMatchObject({ isSmall: true });
}

it("a hostile repository does not keep the main thread busy while its links are fixed", async () => {
  let site = await openSite(siteTreeOf(await trees.open({ "a.md": "# A\n" })));
  await expectNoStall("open", async () => {
    site = await openSite(siteTreeOf(tree));
  });
  await expectNoStall("check", () => checkSite(site));
  await expectNoStall("fix links", () => fixLinks(site));
  await expectNoStall("references", () => readSiteReferences(site));
});

it("a hostile change does not keep the main thread busy while it is reviewed", async () => {
  const overlay = await createOverlay(tree);
  for (const [index, { grow }] of sampleOf([...growthInputs({ seed: 2, pairs: 20 })], 4).entries())
    await overlay.set(`docs/new-${index}.md`, Buffer.from(grow(30_000)));
  const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 10_000_000 };
  await expectNoStall("review", () => reviewChange({ base: tree, overlay, policy }, AbortSignal.timeout(110_000)));
});

it("a call of a hundred edits that match nothing is refused without a stall", async () => {
  const vetting = createVetting(tree, {
    policy: { docsDir: "", allowedPaths: [], filesMax: 1, bytesMax: 1 },
    asked: [],
  });
  const overlay = await createOverlay(tree);
  const edits = Array.from({ length: 100 }, (_, index) => ({ oldText: `no ${index}`, newText: "*a ".repeat(10_000) }));
  const call = { id: "1", name: "edit_file", input: { path: "docs/page-0.md", edits } };
  const tools = { isWriting: () => true, pageAfter: () => pageAfter(overlay, call) };
  const answer = { text: "", reasoning: [], toolCalls: [call] };
  await expectNoStall("vet", () => vetAnswer(vetting, answer, tools, AbortSignal.timeout(110_000)));
});
