import { createContentJudge } from "@emend/review";
import { type ScriptedTurn, scriptedModel, testLimits } from "@emend/testkit/scripted-model.ts";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay } from "@emend/tree";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Step, Vetting } from "./agent.ts";
import { runAgent } from "./loop.ts";
import { vetAnswer } from "./vet-answer.ts";

const { signal } = new AbortController();
const hiding: Vetting = {
  redact: async (text: string) => text.replaceAll("s3cret", "…"),
  judge: async () => ({ refusal: null, question: null }),
  refuseWords: async () => null,
};

const leaked = ["ghp", "Z".repeat(18) + "y3".repeat(9)].join("_");
let trees: TestTrees;
let base: CommitTree;

beforeAll(async () => {
  trees = await openTestTrees();
  base = await trees.open({
    "docs.json": JSON.stringify({ name: "Docs", navigation: { pages: ["index", "a", "b"] } }),
    "index.mdx": "---\ntitle: Home\n---\n\n<Info>\n  Welcome.\n</Info>\n",
    "a.mdx": "---\ntitle: A\n---\n\n<Note>\n  Keep it open.\n</Note>\n",
    "b.mdx": "---\ntitle: B\n---\n\n<Note>\n  Close it.\n</Note>\n",
    "key.mdx": `---\ntitle: Key\n---\n\nUse ${leaked} here.\n`,
  });
});
afterAll(() => trees.close());

it("a credential in the name of an argument is neither run nor kept", async () => {
  const input = { edits: [{ path: "a.md", s3cret: true }], deep: { a: { "x s3cret": 1 } } };
  const answer = { text: "", reasoning: [], toolCalls: [{ id: "1", name: "edit_file", input }] };
  const vetted = await vetAnswer(hiding, answer);
  expect(JSON.stringify(vetted.toolCalls)).not.toContain("s3cret");
  expect(vetted.refusals.get(0)).toContain("credential");
});

it("thoughts that hold a credential are dropped whole, and so is what the vendor keeps with such a call", async () => {
  const signed = (text: string) => ({ text, metadata: { vendor: { signature: "s" } } });
  const call = (input: { content: string }) => ({
    id: "1",
    name: "write_file",
    input,
    metadata: { vendor: { repeats: input } },
  });
  const vet = (thought: string, input: { content: string }) =>
    vetAnswer(hiding, { text: "", reasoning: [signed("First."), signed(thought)], toolCalls: [call(input)] });
  const clean = await vet("Then.", { content: "fine" });
  expect(clean.reasoning).toHaveLength(2);
  expect(clean.toolCalls).toEqual([call({ content: "fine" })]);
  expect((await vet("It is s3cret.", { content: "fine" })).reasoning).toEqual([]);
  const held = await vet("Then.", { content: "s3cret" });
  expect(held.toolCalls).toEqual([{ id: "1", name: "write_file", input: { content: "…" } }]);
});

/** Runs the calls of one answer, and returns each call's result and the pages after them. */
async function run(calls: Exclude<ScriptedTurn, string>) {
  const overlay = await createOverlay(base);
  const steps: Step[] = [];
  const model = scriptedModel((turn) => (turn === 0 ? calls : [["finish", { title: "Edit", summary: "Edited." }]]));
  const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1_000_000 };
  const vetting = createContentJudge(base, { policy, asked: ["Edit"] });
  const deps = { model, limits: testLimits, vetting, saveStep: async (step: Step) => void steps.push(step) };
  await runAgent(deps, { jobId: "job_1", prompt: "Edit", docsDir: "", base, overlay, steps: [] }, signal);
  const results = (steps[0]?.messages ?? []).filter((message) => message.role === "tool");
  const pages = Object.fromEntries(overlay.entries().map(({ path, content }) => [path, content?.toString() ?? null]));
  return { results, pages };
}

it("both halves of a tag may change, over a glob and as a term", async () => {
  const edits = [
    { oldText: "<Note>", newText: "<Info>" },
    { oldText: "</Note>", newText: "</Info>" },
  ];
  const inGlob = await run([["edit_file", { path: "*.mdx", edits }]]);
  expect(inGlob.results).toMatchObject([{ isError: false }]);
  expect(inGlob.pages["b.mdx"]).toContain("<Info>\n  Close it.\n</Info>");
  const asTerm = await run([["replace_term", { from: "open", to: "<Info>", under: "a.mdx" }]]);
  expect(asTerm.results).toMatchObject([{ isError: false }]);
});

it("an edit sees the file that the same answer made", async () => {
  const content = "---\ntitle: New\n---\n\n<Note>\n  One.\n</Note>\n";
  const { results, pages } = await run([
    ["write_file", { path: "new.mdx", content }],
    ["edit_file", { path: "new.mdx", edits: [{ oldText: "One.\n</Note>", newText: "Two.\n</Note>" }] }],
  ]);
  expect(results).toMatchObject([{ isError: false }, { isError: false }]);
  expect(pages["new.mdx"]).toContain("Two.");
});

it("a call that leaves one bad page in a glob changes no page, and keeps the edits before it", async () => {
  const { results, pages } = await run([
    ["edit_file", { path: "a.mdx", edits: [{ oldText: "Keep it open.", newText: "Keep it." }] }],
    ["edit_file", { path: "*.mdx", edits: [{ oldText: "</Note>", newText: "</Note>\n\n<script>x()</script>" }] }],
  ]);
  expect(results).toMatchObject([{ isError: false }, { isError: true }]);
  expect(results[1]?.output).toMatch(/^nothing was edited: a\.mdx: line \d+ has/);
  expect(pages).toEqual({ "a.mdx": expect.stringContaining("Keep it.") });
  expect(pages["a.mdx"]).not.toContain("script");
});

it("a credential of a page is not shown, its mark is not written, and a pattern removes it", async () => {
  const [read] = (await run([["read_file", { paths: ["key.mdx"] }]])).results;
  expect(read?.output).toContain("Use [redacted: github] here.");
  expect(read?.output).not.toContain(leaked);
  const content = "---\ntitle: Key\n---\n\nUse [redacted: github] here, please.\n";
  const marked = await run([["write_file", { path: "key.mdx", content }]]);
  expect(marked.results).toMatchObject([
    { isError: true, output: expect.stringContaining("[redacted: …] stands for") },
  ]);
  expect(marked.pages).toEqual({});
  const edits = [{ oldText: "Use ghp_\\w+ here", newText: "Use YOUR_TOKEN here", regex: 1 }];
  const removed = await run([["edit_file", { path: "key.mdx", edits }]]);
  expect(removed.pages["key.mdx"]).toContain("Use YOUR_TOKEN here.");
});
