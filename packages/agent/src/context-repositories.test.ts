import { type ScriptedTurn, scriptedModel, testLimits } from "@emend/testkit/scripted-model.ts";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay } from "@emend/tree";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ContextTrees, Step } from "./agent.ts";
import { AgentFault } from "./faults.ts";
import { runAgent } from "./loop.ts";
import { readCited } from "./tools/finish.ts";

let trees: TestTrees;
let base: CommitTree;
let api: CommitTree;
beforeAll(async () => {
  trees = await openTestTrees();
  base = await trees.open({ "index.md": "# Home\n", "@types/index.md": "# Types\n" });
  api = await trees.open({
    "src/limits.ts": "export const requestsMax = 7;\nexport const waitMs = 250;\n",
    "README.md": "# API\n",
    secret: { mode: "120000", content: "/etc/passwd" },
  });
});
afterAll(() => trees.close());

const context: ContextTrees = {
  names: ["api", "gone"],
  async open(name) {
    if (name === "api") return api;
    throw new AgentFault("repository_unavailable", { publicMessage: "It may be back later.", retryable: true });
  },
};

/** Makes one call per turn, then finishes with these sources. The last `finish` cites none. */
async function work(calls: readonly [string, unknown][], sources: readonly string[] = []) {
  const steps: Step[] = [];
  const overlay = await createOverlay(base);
  const end = { title: "Say the limit", summary: "It was not said." };
  const model = scriptedModel((turn): ScriptedTurn => {
    const call = calls[turn];
    if (call) return [call];
    return [["finish", turn === calls.length && sources.length > 0 ? { ...end, sources } : end]];
  });
  const outcome = await runAgent(
    { model, limits: testLimits, saveStep: async (step) => void steps.push(step) },
    { jobId: "job_1", prompt: "Say the limit", docsDir: "", base, overlay, steps: [], context },
    new AbortController().signal,
  );
  const answers = steps.flatMap((step) => step.messages).filter((message) => message.role === "tool");
  return { outcome, answers, overlay, system: model.systems[0] ?? "" };
}

const write: [string, unknown] = ["write_file", { path: "limits.md", content: "# Limits\n\nSeven.\n" }];

test("a context repository is listed, read and searched under its name, and the prompt names it", async () => {
  const { answers, system } = await work([
    ["list_files", { under: "@api" }],
    ["list_files", { under: "@api/src" }],
    ["read_file", { paths: ["@api/src/limits.ts:2"] }],
    ["search", { pattern: "requestsMax", include: "@api" }],
    ["search", { pattern: "Types" }],
    ["read_file", { path: "@types/index.md" }],
  ]);
  expect(answers.slice(0, 6).map(({ output }) => output)).toEqual([
    "3 files\n@api/ README.md secret\n@api/src/ limits.ts",
    "1 file\n@api/src/ limits.ts",
    "@api/src/limits.ts (lines 2-2 of 2)\n2\texport const waitMs = 250;",
    "1 match in 1 file\n@api/src/limits.ts\n1: export const requestsMax = 7;",
    "1 match in 1 file\n@types/index.md\n1: # Types",
    "@types/index.md (1 lines)\n1\t# Types",
  ]);
  expect(system).toContain("@api, @gone");
});

test.each<[string, unknown]>([
  ["write_file", { path: "@api/src/limits.ts", content: "owned" }],
  ["edit_file", { path: "@api/src/limits.ts", oldText: "7", newText: "8" }],
  ["delete_file", { path: "@api/README.md" }],
  ["add_page", { path: "@api/page", title: "x", content: "x" }],
  ["rename_page", { from: "index", to: "@api/index" }],
  ["read_file", { path: "@api/secret" }],
  ["read_file", { path: "@api/../index.md" }],
  ["read_file", { path: "@gone/README.md" }],
])("%s %j is a tool error, and nothing is edited", async (...call) => {
  const { answers, overlay } = await work([call]);
  expect(answers[0]).toMatchObject({ isError: true });
  expect(overlay.entries()).toEqual([]);
});

test("an unreachable repository is a tool error, and the job continues", async () => {
  const { answers, outcome } = await work([["search", { pattern: "x", under: "@gone" }], write]);
  expect(answers[0]?.output).toBe("the context repository gone cannot be read: It may be back later.");
  expect(outcome.kind).toBe("finished");
});

test("sources are handed over once they were found, each once", async () => {
  const cited = ["@api/src/limits.ts:1", "@api/src/limits.ts:1-2", "index.md:1"];
  const { outcome } = await work([write], cited);
  expect(outcome).toMatchObject({
    sources: [
      { repository: "api", path: "src/limits.ts", line: 1 },
      { repository: null, path: "index.md", line: 1 },
    ],
  });
});

test.each([
  "@api/src/limits.ts:3",
  "@api/src/other.ts:1",
  "@api/src/limits.ts",
  "limits.md:1",
  "index.md:0",
  "@gone/README.md:1",
])("the source %s is told back, since nobody would find it", async (cited) => {
  const { answers, outcome } = await work([write], [cited]);
  expect(answers[1]).toMatchObject({ name: "finish", isError: true });
  expect(outcome).toMatchObject({ kind: "finished" });
  expect(outcome).not.toHaveProperty("sources");
});

test("cited lines are kept with their text, but not if they hold a credential", async () => {
  const own = await trees.open({ "set.env": `WAIT=250\nTOKEN=ghp_${"a1B2".repeat(9)}\n` });
  const cite = (line: number) =>
    readCited({ base: own, context }, { repository: null, path: "set.env", line }, [], new AbortController().signal);
  expect(await cite(1)).toMatchObject({ text: "WAIT=250" });
  expect(await cite(2)).toBeNull();
});
