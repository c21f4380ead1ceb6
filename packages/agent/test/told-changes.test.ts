import { reviewChange } from "@emend/review";
import { type ScriptedTurn, scriptedModel, testLimits } from "@emend/testkit/scripted-model.ts";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { createOverlay } from "@emend/tree";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Message, Model } from "../src/agent.ts";
import { runAgentWithReview } from "../src/run-agent-with-review.ts";
import { otherWrongChanges, rightChanges, type ToldChange, wrongChanges } from "./told-changes.ts";

let trees: TestTrees;
beforeAll(async () => {
  trees = await openTestTrees();
});
afterAll(() => trees.close());

const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1_000_000 };

/** Says what is wrong where its question lets it know, and takes the code's word for nothing. */
function honestReader({ wrong, repairIsWrong }: ToldChange): Model & { questions: string[] } {
  const questions: string[] = [];
  const model = scriptedModel((_turn, messages: readonly Message[]) => {
    const question = messages.map((one) => (one.role === "user" ? one.text : "")).join("\n");
    questions.push(question);
    const knows = (quote: string) => wrong?.knows.every((text) => question.includes(text)) && question.includes(quote);
    const quotes = [wrong?.quote, repairIsWrong?.quote].filter((one) => one !== undefined);
    const findings = quotes.filter(knows).map((quote) => ({ kind: wrong?.kind, quote, why: "it is not so" }));
    const candidates = [...question.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
    return [["report", { findings, ...(!wrong && { dismissed: candidates }) }]];
  });
  return { ...model, questions };
}

/** What becomes of a change: ready, a draft, repaired or refused. */
async function outcomeOf(one: ToldChange, isRead: boolean) {
  const before = one.before ?? "# Page\n\nWords of the page.\n";
  const base = await trees.open({ ...one.files, "page.md": before });
  const content = one.after ?? `${before}\n${one.adds}\n`;
  const { title = "Change the page", summary = "Changes page.md.", sources = [], wrong, repair } = one;
  const finish = { title, summary, ...(sources.length > 0 && { sources }) };
  const overlay = await createOverlay(base);
  const reader = isRead ? honestReader(one) : null;
  const script = (turn: number, messages: readonly Message[]): ScriptedTurn => {
    const read = Object.keys(one.files).length > 0 ? Object.keys(one.files) : ["page.md"];
    if (turn === 0) return [["read_file", { paths: read }]];
    if (turn === 1) return [["write_file", { path: "page.md", content }]];
    const isGivenBack = messages.some((said) => said.role === "user" && said.text.includes("it is not so"));
    if (isGivenBack && wrong && repair && turn === 3)
      return [["edit_file", { path: "page.md", oldText: wrong.quote, newText: repair }]];
    return [["finish", finish]];
  };
  const { verdict } = await runAgentWithReview(
    {
      model: scriptedModel(script),
      limits: testLimits,
      secondReader: reader,
      saveStep: async () => undefined,
      attachments: async () =>
        Object.entries(one.attached ?? {}).map(([name, text]) => ({
          ...{ id: `upload_${name.length}`, name, type: "application/pdf", picture: null, text },
        })),
      review: async (words, signal) => reviewChange({ base, overlay, policy, asked: [one.asked], ...words }, signal),
    },
    { jobId: "job_1", prompt: one.asked, docsDir: "", base, overlay, steps: [] },
    AbortSignal.timeout(60_000),
  );
  const findings = verdict?.kind === "denied" ? [] : (verdict?.introduced ?? []);
  return { kind: verdict?.kind, findings: findings.map(({ severity, message }) => `${severity}: ${message}`), reader };
}

const wrong = [...wrongChanges, ...otherWrongChanges];

test.each(wrong)("an honest reader sees it: $name", async (one) => {
  expect((await outcomeOf(one, true)).kind).toMatch(/flagged|denied/);
});

test.each(rightChanges)("right work is ready, read or not: $name", async (one) => {
  for (const isRead of [true, false]) expect(await outcomeOf(one, isRead)).toMatchObject({ kind: "passed" });
});

test("without a reader, code alone makes drafts of at least 40 % of what is wrong", async () => {
  const missed: string[] = [];
  for (const one of wrong) if ((await outcomeOf(one, false)).kind === "passed") missed.push(one.name);
  console.info(`by code alone: ${wrong.length - missed.length} of ${wrong.length}`);
  expect(missed.length).toBeLessThanOrEqual(wrong.length * 0.6);
});
