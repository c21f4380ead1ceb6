import type { Finding } from "@emend/site";
import { type ScriptedTurn, scriptedModel, testLimits } from "@emend/testkit/scripted-model.ts";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay, type OverlayEntry } from "@emend/tree";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Model, Step } from "./agent.ts";
import { AgentFault } from "./faults.ts";
import { runAgentWithReview } from "./run-agent-with-review.ts";

let trees: TestTrees;
let base: CommitTree;

beforeAll(async () => {
  trees = await openTestTrees();
  base = await trees.open({ "index.md": "# Home\n" });
});
afterAll(() => trees.close());

const finding: Finding = {
  check: "broken-link",
  severity: "error",
  path: "a.md",
  line: 3,
  column: 1,
  message: "no page b",
};
const finish: ScriptedTurn = [["finish", { title: "T", summary: "S" }]];

/** Writes once, then always finishes. */
const stubborn = (turn: number): ScriptedTurn =>
  turn === 0 ? [["write_file", { path: "a.md", content: "x" }]] : finish;

async function start(
  script: (turn: number) => ScriptedTurn,
  options: {
    nature?: "language" | "rules";
    verdict?: (round: number) => Verdict;
    steps?: readonly Step[];
    edits?: readonly OverlayEntry[];
    prompt?: string;
    secondReader?: Model;
  } = {},
) {
  const steps: Step[] = [...(options.steps ?? [])];
  const stored = new Map<string, OverlayEntry>();
  const model = scriptedModel(script, { nature: options.nature ?? "language" });
  let reviews = 0;
  const result = await runAgentWithReview<Verdict>(
    {
      model,
      limits: testLimits,
      secondReader: options.secondReader ?? null,
      async saveStep(step, edits) {
        steps.push(step);
        for (const edit of edits) stored.set(edit.path, edit);
      },
      async review() {
        reviews += 1;
        return options.verdict?.(reviews) ?? { kind: "flagged", introduced: [finding] };
      },
    },
    {
      jobId: "job_1",
      prompt: options.prompt ?? "Go",
      docsDir: "",
      base,
      overlay: await createOverlay(base, options.edits),
      steps: options.steps ?? [],
    },
    new AbortController().signal,
  );
  return { ...result, steps, stored, model, reviews };
}

type Verdict =
  | { kind: "passed" | "flagged"; introduced: readonly Finding[]; candidates?: readonly Finding[] }
  | { kind: "denied"; violations: readonly { path: string; rule: string }[] };

it("gives findings back for two rounds, then hands over what is left; what did not change is judged once", async () => {
  const { verdict, outcome, steps, reviews } = await start(stubborn);
  expect(reviews).toBe(1);
  expect(steps).toHaveLength(4);
  const told = steps.flatMap((step) => step.messages).filter((message) => message.role === "user");
  expect(told).toHaveLength(2);
  expect(told[0]).toMatchObject({
    from: "review",
    text: expect.stringContaining("error a.md:3:1: no page b (broken-link)"),
  });
  expect(verdict).toEqual({ kind: "flagged", introduced: [finding] });
  expect(outcome).toMatchObject({ kind: "finished" });
});

it("leaves a disputed finding to a person: not repaired, flagged, with the reason beside it", async () => {
  const why = "the host serves this address";
  const script = (turn: number): ScriptedTurn =>
    turn < 2 ? stubborn(turn) : [["finish", { disputes: [`a.md:3: ${why}`, "b.md:3: of another page"] }]];
  const { verdict, steps } = await start(script);
  expect(steps).toHaveLength(3);
  expect(verdict).toEqual({ kind: "flagged", introduced: [{ ...finding, dispute: why }] });
  // A warning alone passes. If it is disputed, a person decides.
  const warning = { ...finding, severity: "warning" as const };
  const disputing = (turn: number): ScriptedTurn =>
    turn === 0 ? stubborn(0) : [["finish", { title: "T", summary: "S", disputes: [`a.md:3: ${why}`] }]];
  const mild = await start(disputing, { verdict: () => ({ kind: "passed", introduced: [warning] }) });
  expect(mild.verdict).toEqual({ kind: "flagged", introduced: [{ ...warning, dispute: why }] });
});

const passed = () => ({ kind: "passed" as const, introduced: [] });
const writes =
  (content: string) =>
  (turn: number): ScriptedTurn =>
    turn === 0 ? [["write_file", { path: "a.md", content }]] : finish;
interface Said {
  kind: string;
  quote: string;
  why: string;
}
/** A second reader that says this whenever it is asked. */
const reader = (...findings: Said[]) => scriptedModel(() => [["report", { findings }]]);

describe("the second reader", () => {
  const content = "It listens on 0.0.0.0 by default.\n";
  const wrong = { kind: "contradicted", quote: "listens on 0.0.0.0 by default", why: "the source says 127.0.0.1" };

  it("sees request and diff, not the conversation, and costs a step of its own", async () => {
    const secondReader = reader();
    const { verdict, steps } = await start(writes(content), {
      verdict: passed,
      secondReader,
      prompt: "Say where it listens",
    });
    expect(verdict).toEqual(passed());
    expect(steps.at(-1)).toMatchObject({ messages: [{ text: "", findings: [] }], usage: { by: "second reader" } });
    const [asked] = secondReader.asked;
    expect(asked).toHaveLength(1);
    const text = JSON.stringify(asked);
    expect(text).toContain("Say where it listens");
    expect(text).toContain("+It listens on 0.0.0.0 by default.");
    expect(text).not.toContain("write_file");
  });

  it("gives its finding back once; what is repaired is gone, and what is not makes a draft", async () => {
    const repairing = (turn: number): ScriptedTurn =>
      turn === 2 ? [["write_file", { path: "a.md", content: "It listens on 127.0.0.1.\n" }]] : writes(content)(turn);
    const repaired = await start(repairing, { verdict: passed, secondReader: reader(wrong) });
    const told = "a second reader found what was then changed: contradicted: “listens on 0.0.0.0 by default”";
    expect(repaired.verdict).toMatchObject({
      kind: "passed",
      introduced: [{ severity: "info", message: expect.stringContaining(told) }],
    });

    const left = await start(writes(content), { verdict: passed, secondReader: reader(wrong) });
    expect(left.verdict).toMatchObject({
      kind: "flagged",
      introduced: [{ check: "second-reader", severity: "error", path: "a.md", line: 1 }],
    });
    // Write, finish, the reader's step, finish again.
    expect(left.steps).toHaveLength(4);
  });

  it("reads once more what changed after its finding, and only that", async () => {
    const lying = (turn: number): ScriptedTurn => {
      const newText = "It listens on 10.0.0.1 by default.";
      const edit = { path: "a.md", oldText: content.trim(), newText };
      return turn === 2 ? [["edit_file", edit]] : writes(`${content}\nIt is small.\n`)(turn);
    };
    const again = { kind: "contradicted", quote: "It listens on 10.0.0.1 by default", why: "127.0.0.1" };
    const secondReader = reader(wrong, again);
    const { verdict, steps } = await start(lying, { verdict: passed, secondReader });
    expect(verdict).toMatchObject({
      kind: "flagged",
      introduced: [
        { severity: "error", message: expect.stringContaining("10.0.0.1") },
        { severity: "info", message: expect.stringContaining("was then changed") },
      ],
    });
    const questions = secondReader.asked.map((asked) => JSON.stringify(asked));
    expect(questions).toHaveLength(2);
    expect(questions[1]).toContain("these lines changed since");
    expect(questions[1]).not.toContain("It is small.");
    expect(steps.filter(({ usage }) => usage.by === "second reader")).toHaveLength(2);
  });

  it("sees title and summary, and can quote them", async () => {
    const untrue = { kind: "unsourced", quote: "All samples were run", why: "nothing says so" };
    const script = (turn: number): ScriptedTurn =>
      turn === 0 ? writes(content)(0) : [["finish", { title: "T", summary: "Fixed. All samples were run." }]];
    const { verdict } = await start(script, { verdict: passed, secondReader: reader(untrue) });
    expect(verdict).toMatchObject({ kind: "flagged", introduced: [{ path: "the summary" }] });
  });

  it("finds what a change lost only where it is nowhere in the change", async () => {
    const lost = (quote: string) => reader({ kind: "lost", quote, why: "it is gone" });
    const after = "# Home\n\nWelcome to the docs.\n";
    const edits = (turn: number): ScriptedTurn =>
      turn === 0 ? [["write_file", { path: "index.md", content: after }]] : finish;
    const kept = await start(edits, { verdict: passed, secondReader: lost("Welcome to the docs.") });
    expect(kept.verdict).toEqual(passed());
    const gone = (turn: number): ScriptedTurn =>
      turn === 0 ? [["write_file", { path: "index.md", content: "# Other words\n" }]] : finish;
    const { verdict } = await start(gone, { verdict: passed, secondReader: lost("# Home") });
    expect(verdict).toMatchObject({ kind: "flagged", introduced: [{ path: "index.md" }] });
  });

  it("decides about what code found: what it dismisses is no finding, and what it leaves goes back once", async () => {
    const candidates: Finding[] = [
      { ...finding, check: "unsupported-fact", path: "a.md", line: 1, message: "`--x` is in nothing that was read" },
      { ...finding, check: "unsupported-fact", severity: "info", path: "a.md", line: 1, message: "`9` is in nothing" },
    ];
    const verdict = () => ({ ...passed(), candidates });
    const deciding = (dismissed: number[]) => scriptedModel(() => [["report", { findings: [], dismissed }]]);
    const secondReader = deciding([1]);
    const right = await start(writes(content), { verdict, secondReader });
    expect(right.verdict).toMatchObject({ kind: "passed", introduced: [] });
    expect(JSON.stringify(secondReader.asked)).toContain("2. a.md:1: `9` is in nothing");
    const left = await start(writes(content), { verdict, secondReader: deciding([]) });
    expect(left.verdict).toMatchObject({ kind: "flagged", introduced: [candidates[0]] });
    expect(left.steps).toHaveLength(4);
    // Without a reader the review gives the errors back, twice, and the notes stay.
    const alone = await start(writes(content), { verdict });
    expect(alone.verdict).toMatchObject({ kind: "flagged", introduced: candidates });
    expect(alone.steps).toHaveLength(4);
  });

  it("is believed only where its quote is there", async () => {
    const made = [
      { kind: "contradicted", quote: "listens on every interface", why: "made up" },
      { kind: "undone", quote: "translate it into German", why: "made up" },
      { kind: "unasked", quote: "It", why: "too short" },
    ];
    const { verdict, steps } = await start(writes(content), { verdict: passed, secondReader: reader(...made) });
    expect(verdict).toEqual(passed());
    expect(steps).toHaveLength(3);
    const short = await start(writes("# Notes\n"), {
      verdict: passed,
      secondReader: reader({ kind: "unasked", quote: "# Notes", why: "nobody asked for a page" }),
    });
    expect(short.verdict).toMatchObject({ kind: "flagged", introduced: [{ path: "a.md", line: 1 }] });
    const undone = { kind: "undone", quote: "and mention the port", why: "no port is mentioned" };
    const half = await start(writes(content), {
      verdict: passed,
      secondReader: reader(undone),
      prompt: "Say where it listens, and mention the port",
    });
    expect(half.verdict).toMatchObject({ kind: "flagged", introduced: [{ path: "the request" }] });
  });

  it("is asked once, wherever a run was cut off", async () => {
    const options = { verdict: passed, secondReader: reader(wrong) };
    const whole = await start(writes(content), options);
    for (const kept of [1, 2, 3, 4]) {
      const secondReader = reader(wrong);
      const edits = [...whole.stored.values()];
      const resumed = await start(writes(content), {
        ...options,
        secondReader,
        steps: whole.steps.slice(0, kept),
        edits,
      });
      expect(secondReader.asked).toHaveLength(kept < 3 ? 1 : 0);
      expect(resumed.verdict).toEqual(whole.verdict);
    }
  });

  it("that is away keeps nothing from being published, and the finding says so", async () => {
    const away = scriptedModel(() => {
      throw new AgentFault("model_unavailable", { publicMessage: "away" });
    });
    const { verdict } = await start(writes(content), { verdict: passed, secondReader: away });
    expect(verdict).toMatchObject({ kind: "passed", introduced: [{ check: "second-reader", severity: "warning" }] });
  });

  it.each([
    ["words", "All fine!"],
    ["another call", [["finish", { title: "x" }]]],
    ["a report that is none", [["report", { findings: "none" }]]],
  ] satisfies [string, ScriptedTurn][])(
    "that answers with %s has not read the change, and the finding says so",
    async (_, answer) => {
      const secondReader = scriptedModel(() => answer as ScriptedTurn);
      const { verdict } = await start(writes(content), { verdict: passed, secondReader });
      expect(verdict).toMatchObject({ kind: "passed", introduced: [{ check: "second-reader", severity: "warning" }] });
    },
  );
});

it("stops as soon as the review passes", async () => {
  const repairing = (turn: number): ScriptedTurn =>
    turn % 2 === 0 ? [["write_file", { path: "a.md", content: `x${turn}` }]] : finish;
  const { reviews, steps } = await start(repairing, {
    verdict: (round) =>
      round === 1 ? { kind: "denied", violations: [{ path: "x", rule: "no" }] } : { kind: "passed", introduced: [] },
  });
  expect(reviews).toBe(2);
  expect(JSON.stringify(steps)).toContain("error x:1:1: no (policy)");
});

it("gives nothing back to a model that cannot use it", async () => {
  const { reviews, steps } = await start(stubborn, { nature: "rules" });
  expect(reviews).toBe(1);
  expect(steps).toHaveLength(2);
});

it("reviews nothing when nothing changed", async () => {
  const { verdict, outcome, reviews } = await start(() => finish);
  expect({ verdict, reviews, kind: outcome.kind }).toEqual({ verdict: null, reviews: 0, kind: "unchanged" });
  // Whatever the model says that it did.
  expect(outcome.summary).toBe("Nothing was changed. The agent's words: S");
  const said = await start(() => [["finish", { title: "T", summary: "Nothing was changed. It is right." }]]);
  expect(said.outcome.summary).toBe("Nothing was changed. It is right.");
});

it("counts the rounds of an earlier run, wherever it was cut off", async () => {
  const whole = await start(stubborn);
  for (const kept of [1, 2, 3, 4]) {
    const resumed = await start(stubborn, { steps: whole.steps.slice(0, kept), edits: [...whole.stored.values()] });
    expect(resumed.model.asked).toHaveLength(4 - kept);
    expect(resumed.steps.map((step) => step.messages)).toEqual(whole.steps.map((step) => step.messages));
    expect(resumed.outcome).toEqual(whole.outcome);
  }
});

it("says with its outcome that a credential was taken out of what was asked, and what to do", async () => {
  const prompt = "Remove [redacted: github] and [redacted: github] from the pages";
  for (const script of [stubborn, () => finish]) {
    const { outcome } = await start(script, { prompt });
    expect(outcome.summary).toMatch(/\bS\n\nWhere the request says `\[redacted: github\]`, a credential stood\./);
    expect(outcome.summary).toContain("ask by the page");
  }
  expect((await start(stubborn)).outcome.summary).toBe("S");
});
