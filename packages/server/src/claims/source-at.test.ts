import { expect, test } from "vitest";
import { pullRequestOf } from "./source-at.ts";

test.each([
  ["Wait longer (#41)", "* Wait, as (#7) says", 41],
  ["Merge pull request #9 from acme/wait", "Wait longer (#8)", 9],
  ["Merge branch 'x'", "See merge request acme/api!7", 7],
  ["Merged in x (pull request #3)", "", 3],
  ['Revert "Wait longer (#41)" (#52)', "Reverts acme/api#41", 52],
  ['Revert "Wait longer (#41)"', "This reverts commit 1234567.", null],
  ["Wait longer, for the crash (#41) of May", "", null],
  ["Wait 41 seconds", "", null],
])("the pull request is read from the commit's message, and no other number: %j", (subject, body, number) => {
  expect(pullRequestOf({ subject, message: `${subject} ${body}`.trim() })).toBe(number);
});
