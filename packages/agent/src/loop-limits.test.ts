import { editHome, finish, type LoopBench, openLoopBench, toolMessages } from "@emend/testkit/loop-bench.ts";
import { type ScriptedTurn, scriptedModel } from "@emend/testkit/scripted-model.ts";
import { createOverlay } from "@emend/tree";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Limits, Message, Model } from "./agent.ts";

let bench: LoopBench;
beforeAll(async () => {
  bench = await openLoopBench();
});
afterAll(() => bench.close());

describe("limits", () => {
  it.each<[string, Partial<Limits>, { costUsd?: number; tokens?: number }, number]>([
    ["steps", { stepsMax: 3 }, {}, 3],
    ["tokens", { tokensMax: 40 }, {}, 4],
    ["cost", { costUsdMax: 1 }, { costUsd: 0.4 }, 3],
  ])("stops at the limit of %s and keeps the work", async (_name, limits, usage, stepsTaken) => {
    const script = (turn: number): ScriptedTurn => [["write_file", { path: `page-${turn}.md`, content: "x" }]];
    const { run, steps, overlay } = await bench.start(scriptedModel(script, usage), {
      limits,
      prompt: "Go on\nfor ever",
    });
    const outcome = await run();
    expect(outcome).toMatchObject({ kind: "stopped", code: "budget_exceeded", title: "Unfinished: Go on" });
    expect(steps).toHaveLength(stepsTaken);
    expect(overlay.entries()).toHaveLength(stepsTaken);
  });

  it("keeps nothing of rules that were cut off half way", async () => {
    const script = (turn: number): ScriptedTurn => [["write_file", { path: `page-${turn}.md`, content: "x" }]];
    const { run, stored, overlay } = await bench.start(scriptedModel(script, { nature: "rules" }), {
      limits: { stepsMax: 2 },
    });
    expect(await run()).toMatchObject({ kind: "stopped", summary: expect.stringContaining("changed 0 files") });
    expect(overlay.entries()).toEqual([]);
    expect((await createOverlay(bench.base, [...stored.values()])).entries()).toEqual([]);
  });

  it("stops a model that does not answer in time", async () => {
    const model: Model = {
      name: "test/hanging",
      nature: "language",
      nextTurn: (_input, signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    };
    const { run } = await bench.start(model, { limits: { wallTimeMsMax: 20 } });
    expect(await run()).toMatchObject({ kind: "stopped", code: "timeout" });
  });

  it("counts the cost of earlier rounds: the limit is the job's", async () => {
    const model = scriptedModel(() => finish);
    const { run } = await bench.start(model, { limits: { costUsdMax: 1 } });
    const usage = { model: "x", inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 1 };
    const said: Message = { role: "assistant", text: "hm", toolCalls: [] };
    const followUps = [{ prompt: "More", afterStep: 1 }];
    expect(await run({ steps: [{ number: 1, messages: [said], usage }], followUps })).toMatchObject({
      kind: "stopped",
      code: "budget_exceeded",
    });
    expect(model.asked).toEqual([]);
  });

  it("counts the time of earlier runs", async () => {
    const model = scriptedModel(() => finish);
    const { run } = await bench.start(model, { limits: { wallTimeMsMax: 1_000 } });
    const usage = { model: "x", inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0, durationMs: 1_000 };
    const said: Message = { role: "assistant", text: "hm", toolCalls: [] };
    expect(await run({ steps: [{ number: 1, messages: [said], usage }] })).toMatchObject({
      kind: "stopped",
      code: "timeout",
    });
    expect(model.asked).toEqual([]);
  });

  it("cuts a long tool output at a line and says how to ask for the rest", async () => {
    const script = (turn: number): ScriptedTurn =>
      [
        [["write_file", { path: "long.md", content: "a line of text\n".repeat(1_000) }]] as ScriptedTurn,
        [["read_file", { path: "long.md" }]] as ScriptedTurn,
        [["read_file", { path: "long.md", startLine: 990, endLine: 991 }]] as ScriptedTurn,
      ][turn] ?? finish;
    const { run, steps } = await bench.start(scriptedModel(script), { limits: { toolOutputBytesMax: 500 } });
    await run();
    const [, long, part] = toolMessages(steps);
    expect(Buffer.byteLength(long?.output ?? "")).toBeLessThanOrEqual(500);
    const [, last, left, next] =
      /\n(\d+)\ta line of text\n… (\d+) more lines; go on with long\.md:(\d+)$/.exec(long?.output ?? "") ?? [];
    expect(Number(last) + Number(left)).toBe(1_000);
    expect(Number(next)).toBe(Number(last) + 1);
    expect(part?.output).toBe("long.md (lines 990-991 of 1000)\n990\ta line of text\n991\ta line of text");
  });
});

describe("a model that misbehaves", () => {
  const bad: ReadonlyArray<[string, ScriptedTurn, RegExp]> = [
    ["talks only", "I will do it soon.", /no tool call/],
    ["says nothing at all", "", /no tool call/],
    ["says a megabyte", "word ".repeat(200_000), /no tool call/],
    [
      "edits by a megabyte that is not there",
      [["edit_file", { path: "index.md", oldText: "x".repeat(1_000_000), newText: "y" }]],
      /./,
    ],
    [
      "calls a tool that does not exist",
      [["run_shell", { command: "id" }]],
      /no tool "run_shell"; use one of: list_files/,
    ],
    ["gives arguments that do not fit", [["read_file", { file: "x", startLine: "1" }]], /invalid input:/],
    ["gives no object at all", [["read_file", "guide.md"]], /invalid input: The input must be an object/],
    ["reads what is not there", [["read_file", { path: "nowhere.md" }]], /no file/],
  ];

  it.each(bad)("%s: it is told so, and fails after six steps that got nothing done", async (_name, turn, words) => {
    const { run, steps } = await bench.start(scriptedModel(() => turn));
    // Not a limit: higher ones would change nothing.
    await expect(run()).rejects.toMatchObject({
      code: "model_unavailable",
      retryable: false,
      publicMessage: expect.stringContaining("Choose a model that can call tools."),
    });
    expect(steps).toHaveLength(6);
    const last = steps[0]?.messages.at(-1);
    expect(last?.role === "tool" ? last.output : last?.text).toMatch(words);
  });

  it("is tried again by a retry", async () => {
    const { run } = await bench.start(scriptedModel(() => finish));
    const usage = { model: "x", inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 };
    const said: Message = { role: "assistant", text: "I am thinking about it.", toolCalls: [] };
    const steps = [1, 2, 3, 4, 5, 6].map((number) => ({ number, messages: [said], usage }));
    expect(await run({ steps })).toMatchObject({ kind: "unchanged" });
  });

  it("is stopped with its work, if there is some", async () => {
    const script = (turn: number): ScriptedTurn => (turn === 0 ? editHome : "I am thinking about it.");
    const { run, steps, overlay } = await bench.start(scriptedModel(script));
    expect(await run()).toMatchObject({ kind: "stopped", code: "budget_exceeded" });
    expect(steps).toHaveLength(7);
    expect(overlay.entries()).toHaveLength(1);
  });

  it("the same call a third time is refused with an error", async () => {
    const same: ScriptedTurn = [["list_files", {}]];
    const { run, steps } = await bench.start(scriptedModel(() => same));
    await expect(run()).rejects.toMatchObject({ code: "model_unavailable" });
    const answers = toolMessages(steps);
    expect(answers.map((answer) => answer.isError)).toEqual([false, false, true, true, true, true, true, true]);
    expect(answers[2]?.output).toContain("same call was made twice");
  });

  it("makes the same calls a third time, of which none writes: neither is made", async () => {
    const same: ScriptedTurn = [
      ["list_files", {}],
      ["git", { command: "diff" }],
    ];
    const { run, steps } = await bench.start(scriptedModel(() => same));
    await expect(run()).rejects.toMatchObject({ code: "model_unavailable" });
    const answers = toolMessages(steps).slice(0, 6);
    expect(answers.map((answer) => answer.isError)).toEqual([false, false, false, false, true, true]);
  });

  it("may make the same call again once something was written", async () => {
    const script = (turn: number): ScriptedTurn =>
      turn % 3 === 2 ? [["write_file", { path: `page-${turn}.md`, content: "x" }]] : [["list_files", {}]];
    const { run, steps } = await bench.start(scriptedModel(script), { limits: { stepsMax: 9 } });
    await run();
    expect(toolMessages(steps).some((answer) => answer.isError)).toBe(false);
  });

  it("edits the same line for ever, to and fro: a limit ends it, and what it did last is kept", async () => {
    const script = (turn: number): ScriptedTurn => [
      ["write_file", { path: "page.md", content: turn % 2 === 0 ? "To." : "Fro." }],
    ];
    const { run, steps, overlay } = await bench.start(scriptedModel(script), { limits: { stepsMax: 20 } });
    expect(await run()).toMatchObject({ kind: "stopped", code: "budget_exceeded" });
    expect(steps).toHaveLength(20);
    expect(overlay.entries().map(({ content }) => content?.toString())).toEqual(["Fro."]);
  });

  it("recovers when told", async () => {
    const script = (turn: number): ScriptedTurn => (turn < 5 ? "Thinking." : turn === 5 ? editHome : finish);
    expect(await (await bench.start(scriptedModel(script))).run()).toMatchObject({ kind: "finished" });
  });

  it("says U+0000 and lone surrogates: they are stored as what ran", async () => {
    const script = (turn: number): ScriptedTurn =>
      turn === 0 ? [["write_file", { path: "new.md", content: "a\0b\ud800c" }]] : finish;
    const { run, steps, overlay } = await bench.start(scriptedModel(script));
    await run();
    expect((await overlay.read("new.md"))?.toString()).toBe("a\ufffdb\ufffdc");
    expect(JSON.stringify(steps)).not.toMatch(/\\u0000|\\ud800/);
  });
});
