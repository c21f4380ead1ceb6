import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { answerCases, isError, judgeAnswer } from "../eval/untrue-answers.ts";

let trees: TestTrees;
beforeAll(async () => {
  trees = await openTestTrees();
});
afterAll(() => trees.close());

const cases = answerCases();
const right = cases.filter(({ way }) => way === "right");
/** A bare number without a source, and pages that only the summary names, are left to the second reader. */
const byCode = ["invented", "inverted", "wrong source", "dropped"];

test("there are as many cases as the docs say, and half of them is frozen", () => {
  expect(right.length).toBeGreaterThanOrEqual(60);
  expect(cases.filter(({ way }) => byCode.includes(way)).length).toBeGreaterThanOrEqual(35);
  const frozen = cases.filter(({ isFrozen }) => isFrozen).length / cases.length;
  expect(frozen).toBeGreaterThan(0.4);
  expect(frozen).toBeLessThan(0.6);
});

test.each(right)("a right answer is no draft: $name", async (one) => {
  expect(((await judgeAnswer(trees, one))?.byCode ?? []).filter(isError)).toEqual([]);
});

test.each(byCode.flatMap((way) => cases.filter((one) => one.way === way && !/exit code/.test(one.name))))(
  "a wrong answer has a candidate ($way): $name",
  async (one) => {
    expect((await judgeAnswer(trees, one))?.byCode).not.toEqual([]);
  },
);
