import { afterAll, beforeAll, expect, test } from "vitest";
import { readRecordedReader } from "../eval/recorded-reader.ts";
import { answerCases, judgeAnswer } from "../eval/untrue-answers.ts";
import { sampleOf } from "./support/sample.ts";
import { openTestTrees, type TestTrees } from "./support/test-tree.ts";

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

test.each(sampleOf(right, 8))("a right answer has no finding: $name", async (one) => {
  expect((await judgeAnswer(trees, one))?.byCode ?? []).toEqual([]);
});

test.each(
  byCode.flatMap((way) =>
    sampleOf(
      cases.filter((one) => one.way === way),
      2,
    ),
  ),
)("a wrong answer has a finding ($way): $name", async (one) => {
  expect((await judgeAnswer(trees, one))?.byCode).not.toEqual([]);
});

test.each(
  ["right", "wrong page", "too much", "half"].flatMap((way) =>
    sampleOf(
      cases.filter((one) => one.way === way && !one.isFrozen),
      3,
    ),
  ),
)("a recorded second reader judges an answer ($way): $name", async (one) => {
  const byReader = (await judgeAnswer(trees, one, await readRecordedReader()))?.byReader;
  // Null: the question changed, so record it anew (npm run eval -- answers --questions FOLDER).
  expect(byReader).not.toBeNull();
  if (one.way === "right") expect(byReader ?? []).toEqual([]);
});
