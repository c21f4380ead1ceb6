import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readRecordedReader } from "../eval/recorded-reader.ts";
import { answerCases, judgeAnswer } from "../eval/untrue-answers.ts";

let trees: TestTrees;
beforeAll(async () => {
  trees = await openTestTrees();
});
afterAll(() => trees.close());

const cases = answerCases();
const right = cases.filter(({ way }) => way === "right");
const byCode = ["invented", "inverted", "wrong source", "dropped", "untrue summary"];

test("there are as many cases as the docs say, and half of them is frozen", () => {
  expect(right.length).toBeGreaterThanOrEqual(60);
  expect(cases.filter(({ way }) => byCode.includes(way)).length).toBeGreaterThanOrEqual(47);
  const frozen = cases.filter(({ isFrozen }) => isFrozen).length / cases.length;
  expect(frozen).toBeGreaterThan(0.4);
  expect(frozen).toBeLessThan(0.6);
});

test.each(right)("a right answer has no finding: $name", async (one) => {
  expect((await judgeAnswer(trees, one))?.byCode ?? []).toEqual([]);
});

test.each(byCode.flatMap((way) => cases.filter((one) => one.way === way)))(
  "a wrong answer has a finding ($way): $name",
  async (one) => {
    expect((await judgeAnswer(trees, one))?.byCode).not.toEqual([]);
  },
);

test("a recorded second reader has nothing against a right answer", async () => {
  const reader = await readRecordedReader();
  const open = right.filter(({ isFrozen }) => !isFrozen);
  const judgments = await Promise.all(
    open.map(async (one) => ({ name: one.name, byReader: (await judgeAnswer(trees, one, reader))?.byReader ?? null })),
  );
  // Null: policy refuses the answer before it is read, or it is not recorded (npm run eval -- answers --questions FOLDER).
  const judged = judgments.filter(({ byReader }) => byReader !== null);
  expect(judged.length).toBeGreaterThan(open.length / 2);
  expect(judged.filter(({ byReader }) => byReader?.length !== 0)).toEqual([]);
});

test("a recorded second reader finds what code cannot see, but for one answer", async () => {
  const reader = await readRecordedReader();
  const ways = ["wrong page", "too much", "half"];
  const missed: string[] = [];
  for (const one of cases.filter(({ way, isFrozen }) => ways.includes(way) && !isFrozen)) {
    const judgment = await judgeAnswer(trees, one, reader);
    if (judgment !== null && (judgment.byReader ?? []).length === 0) missed.push(`${one.way}: ${one.name}`);
  }
  expect(missed).toEqual(["half: mintlify: on a page, while a term is replaced: half done"]);
});
