import { type FarTurn, protocols, startFarModel } from "@emend/testkit/far-model.ts";
import { testLimits } from "@emend/testkit/scripted-model.ts";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { createOverlay } from "@emend/tree";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Step } from "../agent.ts";
import { runAgent } from "../loop.ts";
import { openModel } from "./registry.ts";
import { usualPatience } from "./sdk-model.ts";

let trees: TestTrees;
beforeAll(async () => {
  trees = await openTestTrees();
});
afterAll(() => trees.close());

type Body = Record<string, unknown>;

/** The parts of a request before the conversation, and the conversation's place, for each protocol. */
const shapes: Readonly<Record<(typeof protocols)[number], { before: readonly string[]; said: string }>> = {
  "anthropic/claude-sonnet-4-5": { before: ["tools", "system"], said: "messages" },
  "openai/gpt-5": { before: ["tools", "prompt_cache_key"], said: "input" },
  "google/gemini-2.5-pro": { before: ["tools", "systemInstruction"], said: "contents" },
  "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0": { before: ["toolConfig", "system"], said: "messages" },
  "vertex/gemini-2.5-flash": { before: ["tools", "systemInstruction"], said: "contents" },
  "azure/gpt-5-mini": { before: ["tools", "prompt_cache_key"], said: "input" },
  "compatible/llama-4": { before: ["tools"], said: "messages" },
};

/** Reads with two calls, writes, reads again, finishes. */
const script = (turn: number): FarTurn =>
  [
    [
      ["read_file", { path: "index.md" }],
      ["search", { pattern: "Hello" }],
    ] as FarTurn,
    [["edit_file", { path: "index.md", oldText: "Hello", newText: "Welcome" }]] as FarTurn,
    [["check", {}]] as FarTurn,
  ][turn] ?? [["finish", { title: "Welcome", summary: "Said so." }]];

/** The requests of a job's turns. Another process sends the second half, from the stored steps. */
async function bodiesOf(name: string): Promise<readonly Body[]> {
  const far = await startFarModel(script);
  const bodies: Body[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    bodies.push(JSON.parse(String(init?.body)));
    return globalThis.fetch(input, init);
  };
  const base = await trees.open({ "index.md": "# Home\n\nHello.\n", "AGENTS.md": "Be brief.\n" });
  const overlay = await createOverlay(base);
  const steps: Step[] = [];
  const run = async (stepsMax: number) => {
    const model = await openModel(
      { endpoints: far.endpoints, prices: {}, fetch, patience: usualPatience, keyOf: async () => null },
      { name, projectId: null },
    );
    const saveStep = async (step: Step) => {
      steps.push(JSON.parse(JSON.stringify(step)));
    };
    const task = { jobId: "job_1", prompt: "Greet", docsDir: "", base, overlay, steps: [...steps] };
    return runAgent({ model, limits: { ...testLimits, stepsMax }, saveStep }, task, AbortSignal.timeout(30_000));
  };
  try {
    await run(2);
    expect(await run(60)).toMatchObject({ kind: "finished" });
  } finally {
    await far.stop();
  }
  expect(bodies).toHaveLength(4);
  return bodies;
}

const withoutMarks = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, inner) => {
      if (key === "cache_control") return undefined;
      return Array.isArray(inner) ? inner.filter((one) => !Object.hasOwn(Object(one), "cachePoint")) : inner;
    }),
  );

test.each(protocols)("%s: each turn begins with the bytes of the turn before, also after a crash", async (name) => {
  const { before, said } = shapes[name];
  const bodies = await bodiesOf(name);
  for (const [index, body] of bodies.entries()) {
    const earlier = bodies[index - 1];
    if (!earlier) continue;
    for (const part of before) {
      expect(earlier[part]).toBeDefined();
      expect(JSON.stringify(body[part])).toBe(JSON.stringify(earlier[part]));
    }
    const [was, is] = [withoutMarks(earlier[said]), withoutMarks(body[said])] as [unknown[], unknown[]];
    expect(is.length).toBeGreaterThan(was.length);
    expect(JSON.stringify(is.slice(0, was.length))).toBe(JSON.stringify(was));
  }
});

test("anthropic: the instructions and the conversation so far are marked, and nothing else is", async () => {
  const mark = { type: "ephemeral" };
  for (const { system, tools, messages } of await bodiesOf(protocols[0])) {
    expect(system).toMatchObject([{ type: "text", cache_control: mark }]);
    expect(JSON.stringify(tools)).not.toContain("cache_control");
    const blocks = (messages as { content: Body[] }[]).flatMap(({ content }) => content);
    expect(blocks.map((block) => block.cache_control)).toEqual([...blocks.slice(1).map(() => undefined), mark]);
  }
});

test("bedrock: the instructions and the conversation so far are marked, and nothing else is", async () => {
  const mark = { cachePoint: { type: "default" } };
  for (const { system, toolConfig, messages } of await bodiesOf("bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0")) {
    expect(system).toEqual([{ text: expect.any(String) }, mark]);
    expect(JSON.stringify(toolConfig)).not.toContain("cachePoint");
    const blocks = (messages as { content: Body[] }[]).flatMap(({ content }) => content);
    expect(blocks.filter((block) => "cachePoint" in block)).toEqual([mark]);
    expect(blocks.at(-1)).toEqual(mark);
  }
});

test("bedrock: a model that knows no cache marks gets none", async () => {
  for (const body of await bodiesOf("bedrock/meta.llama4-maverick-17b-instruct-v1:0")) {
    expect(JSON.stringify(body)).not.toContain("cachePoint");
  }
});

test("azure: every turn of a job names the same cache, and nothing is kept there", async () => {
  const bodies = await bodiesOf("azure/gpt-5-mini");
  for (const body of bodies)
    expect(body).toMatchObject({ store: false, prompt_cache_key: bodies[0]?.prompt_cache_key });
});

test("openai: every turn of a job names the same cache, and nothing is kept there", async () => {
  const bodies = await bodiesOf(protocols[1]);
  for (const body of bodies)
    expect(body).toMatchObject({ store: false, prompt_cache_key: bodies[0]?.prompt_cache_key });
  expect(bodies[0]?.prompt_cache_key).toMatch(/^[0-9a-f]{32}$/);
});
