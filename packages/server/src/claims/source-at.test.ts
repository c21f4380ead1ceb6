import { expect, test } from "vitest";
import { pullRequestIn } from "./source-at.ts";

test.each([
  ["Wait longer (#41)", 41],
  ["Merge branch 'x' See merge request acme/api!7", 7],
  ["Merged in x (pull request #3)", 3],
  ["Wait 41 seconds", null],
])("the pull request is read from the commit's message: %j", (message, number) => {
  expect(pullRequestIn(message)).toBe(number);
});
