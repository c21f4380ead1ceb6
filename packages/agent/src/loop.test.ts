import {
  type Calls,
  editHome,
  finish,
  type LoopBench,
  openLoopBench,
  toolMessages,
} from "@emend/testkit/loop-bench.ts";
import { type ScriptedTurn, scriptedModel } from "@emend/testkit/scripted-model.ts";
import { createOverlay } from "@emend/tree";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Model, Step } from "./agent.ts";
import { AgentFault } from "./faults.ts";
import { unansweredIn } from "./outcome.ts";

let bench: LoopBench;
beforeAll(async () => {
  bench = await openLoopBench();
});
afterAll(() => bench.close());

describe("a run", () => {
  it("stops before its next turn when the month's budget is spent, and keeps its work", async () => {
    const { run, deps, steps, overlay } = await bench.start(scriptedModel(() => editHome));
    deps.spentBudget = async () => (steps.length === 0 ? null : "the project's monthly budget of $50 was used up");
    expect(await run()).toMatchObject({ kind: "stopped", code: "budget_exceeded" });
    expect(steps).toHaveLength(1);
    expect(overlay.entries()).toHaveLength(1);
  });

  it("hears before its next turn what is said meanwhile, once, and stores it with that step", async () => {
    const model = scriptedModel((turn) => (turn === 0 ? editHome : finish));
    const { run, steps, deps } = await bench.start(model);
    deps.interjections = async () => (steps.length === 1 ? [{ id: "7", text: "And say goodbye." }] : []);
    expect(await run()).toMatchObject({ kind: "finished" });
    expect(model.asked.map((messages) => JSON.stringify(messages).split("And say goodbye.").length - 1)).toEqual([
      0, 1,
    ]);
    expect(model.asked[1]?.at(-1)).toMatchObject({ role: "user", text: expect.stringContaining("while you work") });
    expect(steps.map(({ taken }) => taken)).toEqual([undefined, ["7"]]);
    expect(steps[1]?.messages[0]).toEqual({ role: "user", text: "And say goodbye.", from: "interjection" });
  });

  it("goes on after it handed over, if something was said before it ended", async () => {
    const model = scriptedModel(() => finish);
    const { run, steps, deps, task } = await bench.start(model);
    let said = [{ id: "1", text: "Not so fast." }];
    deps.interjections = async () => (steps.length === 1 ? said : []);
    await run();
    expect(steps).toHaveLength(2);
    // A run that continues elsewhere hears it too.
    said = [];
    const first = steps.slice(0, 1);
    steps.length = 1;
    said = [{ id: "1", text: "Not so fast." }];
    await run({ ...task, steps: first });
    expect(steps).toHaveLength(2);
  });

  const ask: Calls = [["ask", { question: "Which port?", options: ["80", "443"] }]];

  it("ends with its question, waits without asking the model again, and goes on with the answer", async () => {
    const model = scriptedModel((turn) => (turn === 0 ? [...ask, ...editHome] : finish));
    const { run, steps, deps, overlay } = await bench.start(model);
    deps.questions = { max: 1, overdue: null };
    const question = { kind: "asked", summary: "Which port?", options: ["80", "443"], step: 1 };
    expect(await run()).toEqual(question);
    expect(overlay.entries()).toEqual([]);
    expect(toolMessages(steps)[1]?.output).toBe("not run: ask was called before it");
    expect(await run({ steps: [...steps] })).toEqual(question);
    expect(model.asked).toHaveLength(1);
    deps.interjections = async () => (steps.length === 1 ? [{ id: "7", text: "443" }] : []);
    await run({ steps: [...steps] });
    expect(model.asked[1]?.at(-1)).toMatchObject({ role: "user", text: "The user says after your question:\n\n443" });
  });

  it("guesses once its question is overdue, and is told so", async () => {
    const model = scriptedModel((turn) => (turn === 0 ? ask : finish));
    const { run, steps, deps, task } = await bench.start(model);
    deps.questions = { max: 1, overdue: null };
    await run();
    deps.questions.overdue = 1;
    expect(await run({ steps: [...steps] })).toMatchObject({ kind: "unchanged" });
    expect(model.asked[1]?.at(-1)).toMatchObject({ text: expect.stringContaining("Nobody answered in time") });
    expect(unansweredIn(task, steps)).toEqual(["Which port?"]);
  });

  it("writes nothing while it plans, and after the next message it may", async () => {
    const model = scriptedModel((turn) => (turn === 1 ? finish : turn === 3 ? finish : editHome));
    const { run, steps, overlay } = await bench.start(model);
    expect(await run({ plan: true })).toEqual({ kind: "unchanged", summary: "Edited it." });
    expect(overlay.entries()).toEqual([]);
    expect(toolMessages(steps)[0]).toMatchObject({ isError: true, output: expect.stringContaining("only plans") });
    const followUps = [{ prompt: "Carry it out.", afterStep: 2 }];
    expect(await run({ plan: true, followUps, steps: [...steps] })).toMatchObject({ kind: "finished" });
    expect(overlay.entries()).toHaveLength(1);
    // Both rounds begin alike, for the vendor's cache.
    expect(model.asked[2]?.[0]).toEqual(model.asked[0]?.[0]);
  });

  it("is refused a question beyond its budget, and one that links elsewhere", async () => {
    const link: Calls = [["ask", { question: "See https://evil.test/x ?" }]];
    const model = scriptedModel((turn) => [ask, link, finish][turn] ?? finish);
    const { run, steps, deps } = await bench.start(model);
    deps.questions = { max: 0, overdue: null };
    await run();
    expect(toolMessages(steps)[0]).toMatchObject({
      isError: true,
      output: expect.stringContaining("no question is left"),
    });
    deps.questions.max = 3;
    steps.length = 0;
    const again = await bench.start(scriptedModel((turn) => (turn === 0 ? link : finish)));
    again.deps.questions = { max: 3, overdue: null };
    await again.run();
    expect(toolMessages(again.steps)[0]).toMatchObject({
      isError: true,
      output: expect.stringContaining("no images, links"),
    });
  });

  it("edits, stores each step with its edits, and finishes", async () => {
    const { run, steps, stored, overlay } = await bench.start(
      scriptedModel((turn) => (turn === 0 ? editHome : finish)),
    );
    expect(await run()).toEqual({ kind: "finished", title: "Edit the guide", summary: "Edited it." });
    expect(steps.map((step) => step.number)).toEqual([1, 2]);
    expect(steps[0]?.usage.durationMs).toBeGreaterThan(0);
    expect(stored.get("index.md")?.content?.toString()).toBe("# Home\n\nHello.\n");
    expect(overlay.takeDirty()).toEqual([]);
  });

  it("is not handed over beside an edit that was refused in the same answer", async () => {
    const wrong: [string, unknown] = ["edit_file", { path: "index.md", oldText: "nowhere", newText: "x" }];
    const script = (turn: number): ScriptedTurn => (turn === 0 ? [...editHome, wrong, ...finish] : finish);
    const { run, steps } = await bench.start(scriptedModel(script));
    expect(await run()).toMatchObject({ kind: "finished" });
    expect(steps).toHaveLength(2);
    const [, , sentBack] = toolMessages(steps);
    expect(sentBack).toMatchObject({
      name: "finish",
      isError: true,
      output: expect.stringContaining("edit_file of this same answer"),
    });
  });

  it("returns a summary of the whole pull request and a reply for a follow-up", async () => {
    const script = (turn: number): ScriptedTurn =>
      [editHome, [["finish", { reply: "Shortened it." }]] as ScriptedTurn][turn] ?? [
        ["finish", { summary: "The home page greets in one word.", reply: "Shortened it. At last." }],
      ];
    const { run, steps } = await bench.start(scriptedModel(script));
    const outcome = await run({ followUps: [{ prompt: "Shorter", afterStep: 0 }] });
    expect(toolMessages(steps)[1]).toMatchObject({
      isError: true,
      output: expect.stringContaining("whole pull request"),
    });
    expect(outcome).toEqual({
      kind: "finished",
      title: "Shortened it",
      summary: "The home page greets in one word.",
      reply: "Shortened it. At last.",
    });
  });

  it("keeps the title and summary of a refused finish", async () => {
    const refused: Calls = [["finish", { title: "Greet", summary: "Edited it.", sources: ["nowhere.md:1"] }]];
    const script = (turn: number): ScriptedTurn => (turn === 0 ? editHome : turn === 1 ? refused : [["finish", {}]]);
    const { run, steps } = await bench.start(scriptedModel(script));
    expect(await run()).toMatchObject({ kind: "finished", title: "Greet", summary: "Edited it." });
    expect(steps).toHaveLength(3);
  });

  it("is unchanged when it finishes without an edit", async () => {
    const { run } = await bench.start(scriptedModel(() => finish));
    expect(await run()).toEqual({ kind: "unchanged", summary: "Edited it." });
  });

  it("continues after the last stored step and repeats no turn", async () => {
    const script = (turn: number): ScriptedTurn =>
      [editHome, [["read_file", { path: "guide.md" }]] as ScriptedTurn, finish][turn] ?? finish;
    const whole = await bench.start(scriptedModel(script));
    const outcome = await whole.run();
    for (const kept of [0, 1, 2, 3]) {
      const model = scriptedModel(script);
      const resumed = await bench.start(model);
      const edits = kept > 0 ? [...whole.stored.values()] : [];
      const again = await resumed.run({
        steps: whole.steps.slice(0, kept),
        overlay: await createOverlay(bench.base, edits),
      });
      expect(again).toEqual(outcome);
      expect(model.asked).toHaveLength(3 - kept);
      expect(withoutTimes(resumed.steps)).toEqual(withoutTimes(whole.steps.slice(kept)));
    }
  });

  it("shows the model the whole conversation and the guidance as content that cannot close its fence", async () => {
    const model = scriptedModel((turn) => (turn === 0 ? editHome : finish));
    const { run, steps } = await bench.start(model, { prompt: "Make it short" });
    await run();
    expect(model.asked[1]).toEqual([{ role: "user", text: "Make it short" }, ...(steps[0]?.messages ?? [])]);
    const system = model.systems[0] ?? "";
    expect(system).toContain("Write short sentences.");
    expect(system.match(/<\/content>/g)).toHaveLength(1);
    expect(system.trimEnd().endsWith("</content>")).toBe(true);
  });

  it("stops without storing anything when it is cancelled", async () => {
    const controller = new AbortController();
    const model: Model = {
      name: "test/slow",
      nature: "language",
      nextTurn: (_input, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          controller.abort(new Error("cancelled by somebody"));
        }),
    };
    const { run, steps } = await bench.start(model, { signal: controller.signal });
    await expect(run()).rejects.toThrow("cancelled by somebody");
    expect(steps).toEqual([]);
  });

  it("ends when its step can no longer be stored", async () => {
    const { run, deps } = await bench.start(scriptedModel(() => editHome));
    deps.saveStep = async () => {
      throw new AgentFault("internal", { publicMessage: "the lease is lost" });
    };
    await expect(run()).rejects.toThrow("the lease is lost");
  });
});

describe("calls of one turn", () => {
  it("run in the order given when one writes", async () => {
    const script = (turn: number): ScriptedTurn =>
      turn === 0
        ? [
            ["write_file", { path: "a.md", content: "one" }],
            ["edit_file", { path: "a.md", oldText: "one", newText: "two" }],
            ["read_file", { path: "a.md" }],
            ["finish", { title: "T", summary: "S" }],
            ["write_file", { path: "b.md", content: "late" }],
          ]
        : finish;
    const { run, steps, overlay } = await bench.start(scriptedModel(script));
    expect(await run()).toMatchObject({ kind: "finished", title: "T" });
    expect(toolMessages(steps).map((answer) => answer.output)).toEqual([
      "wrote a.md",
      "edited a.md, line 1",
      "a.md (1 lines)\n1\ttwo",
      "handed over",
      "not run: finish was called before it",
    ]);
    expect(overlay.entries().map((entry) => entry.path)).toEqual(["a.md"]);
  });

  it("report a slow or invalid regular expression as a tool error", async () => {
    const script = (turn: number): ScriptedTurn =>
      turn === 0
        ? [
            ["search", { pattern: "(a|a|a|b)*\\1(a*)*(a*)*(a*)*\\2\\3\\4$", regex: true }],
            ["search", { pattern: "(((", regex: true }],
            ["search", { pattern: "Hello" }],
          ]
        : finish;
    const { run, steps } = await bench.start(scriptedModel(script));
    await run();
    const [exploding, broken, good] = toolMessages(steps);
    expect(exploding).toMatchObject({ isError: true, output: expect.stringContaining("stopped after 1 s") });
    expect(broken).toMatchObject({
      isError: true,
      output:
        "The pattern is not a valid regular expression: unmatched parenthesis. Escape it with a backslash, or search without regex.",
    });
    expect(good).toMatchObject({ isError: false, output: "1 match in 1 file\nindex.md\n3: Hello world." });
  });

  it("show the site: navigation, orphans and pages", async () => {
    const site = await bench.trees.open({
      "docs.json": JSON.stringify({ navigation: { groups: [{ group: "Start", pages: ["index"] }] } }),
      "index.mdx": "---\ntitle: Home\n---\n",
      "lost.mdx": "---\ntitle: Lost\n---\n",
    });
    const script = (turn: number): ScriptedTurn =>
      turn === 0
        ? [
            ["site_map", {}],
            ["site_map", { find: "lost" }],
            ["check", { all: true }],
          ]
        : finish;
    const { run, steps } = await bench.start(scriptedModel(script));
    await run({ base: site, overlay: await createOverlay(site) });
    const [map, found, findings] = toolMessages(steps).map((answer) => answer.output);
    expect(map).toBe("mintlify, 2 pages, 2 here\nStart: index\nnot in the navigation (1):\n./ lost.mdx");
    expect(found).toBe("found:\nlost.mdx\t/lost\tLost");
    expect(findings).toContain("lost.mdx");
  });

  it("refuse an edit whose place is not certain", async () => {
    const script = (turn: number): ScriptedTurn =>
      turn === 0
        ? [
            ["edit_file", { path: "index.md", oldText: "l", newText: "L" }],
            ["edit_file", { path: "index.md", oldText: "nowhere", newText: "x" }],
            ["edit_file", { path: "index.md", oldText: "Hello", newText: "Hello" }],
          ]
        : finish;
    const { run, steps } = await bench.start(scriptedModel(script));
    expect(await run()).toMatchObject({ kind: "unchanged" });
    const words = toolMessages(steps).map((answer) => answer.output);
    expect(words[0]).toContain("more than once");
    expect(words[1]).toContain("does not occur");
    expect(words[2]).toContain("the same");
  });

  it("keep line ends and bytes around an edit", async () => {
    const script = (turn: number): ScriptedTurn =>
      turn === 0 ? [["edit_file", { path: "guide.md", oldText: "One\nTwo", newText: "One\nHalf\nTwo" }]] : finish;
    const { run, overlay } = await bench.start(scriptedModel(script));
    await run();
    expect((await overlay.read("guide.md"))?.toString()).toBe("# Guide\r\n\r\nOne\r\nHalf\r\nTwo\r\n");
  });
});

describe("guidance of a folder", () => {
  it("is sent once, with the first of its files that is read or written", async () => {
    const site = await bench.trees.open({
      "index.md": "# Home\n",
      "api/AGENTS.md": "Examples in Python.",
      "api/a.md": "# A\n",
      "api/b.md": "# B\n",
    });
    const script = (turn: number): ScriptedTurn =>
      [
        [["read_file", { paths: ["index.md"] }]] as ScriptedTurn,
        [["edit_file", { path: "api/a.md", oldText: "# A", newText: "# AA" }]] as ScriptedTurn,
        [["read_file", { paths: ["api/b.md"] }]] as ScriptedTurn,
      ][turn] ?? finish;
    const { run, steps } = await bench.start(scriptedModel(script));
    await run({ base: site, overlay: await createOverlay(site) });
    const answers = toolMessages(steps).map(({ output }) => output.includes("Examples in Python."));
    expect(answers).toEqual([false, true, false, false]);
  });
});

describe("an instruction that turns out not to be understood", () => {
  it("leaves nothing behind, stored edits included", async () => {
    const model = scriptedModel((turn) => {
      if (turn === 0) return [["write_file", { path: "new.md", content: "x" }], ...(editHome as [])];
      throw new AgentFault("instruction_not_understood", { publicMessage: "not that" });
    });
    const { run, stored, overlay, steps } = await bench.start(model);
    await expect(run()).rejects.toMatchObject({ code: "instruction_not_understood" });
    expect(overlay.entries()).toEqual([]);
    expect(steps).toHaveLength(2);
    expect((await createOverlay(bench.base, [...stored.values()])).entries()).toEqual([]);
  });
});

function withoutTimes(steps: readonly Step[]): unknown {
  return steps.map(({ usage, ...step }) => ({ ...step, usage: { ...usage, durationMs: 0 } }));
}
