import type { Finding } from "@emend/site";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ScriptedTurn, scriptedModel, testLimits } from "../../test/support/scripted-model.ts";
import { openTestTrees, type TestTrees } from "../../test/support/test-tree.ts";
import { createOverlay } from "../tree/overlay.ts";
import type { CommitTree, OverlayEntry } from "../tree/tree.ts";
import type { Step } from "./agent.ts";
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
    selfReview?: boolean;
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
      selfReview: options.selfReview ?? false,
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
  | { kind: "passed" | "flagged"; introduced: readonly Finding[] }
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

it("shows a model its own change where that is large, takes pages away or has findings, and only then", async () => {
  const looks = async (content: string, introduced: readonly Finding[] = []) => {
    const script = (turn: number): ScriptedTurn =>
      turn === 0 ? [["write_file", { path: "a.md", content }]] : turn === 1 ? finish : [["finish", {}]];
    const verdict = () => ({ kind: "passed" as const, introduced });
    return (await start(script, { selfReview: true, verdict })).steps.length - 2;
  };
  expect(await looks("a line\n")).toBe(0);
  expect(await looks("a line\n".repeat(61))).toBe(1);
  expect(await looks("a line\n", [{ ...finding, severity: "warning" }])).toBe(1);
  const deleting = (turn: number): ScriptedTurn =>
    turn === 0 ? [["delete_file", { path: "index.md" }]] : turn === 1 ? finish : [["finish", {}]];
  const passed = () => ({ kind: "passed" as const, introduced: [] });
  expect((await start(deleting, { selfReview: true, verdict: passed })).steps).toHaveLength(3);
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
    expect(outcome.summary).toMatch(/^S\n\nWhere the request says `\[redacted: github\]`, a credential stood\./);
    expect(outcome.summary).toContain("ask by the page");
  }
  expect((await start(stubborn)).outcome.summary).toBe("S");
});
