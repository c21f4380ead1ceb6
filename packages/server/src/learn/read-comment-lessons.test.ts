import { expect, test } from "vitest";
import { readCommentLessons } from "./read-comment-lessons.ts";

test.each([
  'Please write "log in", not "sign in".',
  "Use `log in` instead of `sign in` here",
  "“sign in” → “log in”",
  '"sign in" should be "log in".',
  'Could you replace "sign in" with "log in"?',
  'Not "sign in" but "log in".',
])("what to write and what not: %s", (text) => {
  expect(readCommentLessons(text).wordings).toEqual([{ replaced: "sign", by: "log", next: "in" }]);
});

test.each([
  'Use "30 s", not "20 s".',
  "Use `listJobs` instead of `list_jobs2`.",
  '> Write "log in", not "sign in".\n\nI disagree.',
  '```\nWrite "log in", not "sign in".\n```',
  'This "thing" is not as good as the "other".',
  'Use "a b c d e", not "f".',
  'Write "Page", not "page".',
])("no matter of words: %s", (text) => {
  expect(readCommentLessons(text).wordings).toEqual([]);
});

test.each([
  ["Never mention internal flags", "Never mention internal flags."],
  ["Looks odd. Please always link to the glossary! Thanks.", "Always link to the glossary."],
  [
    "@emend we never document flags that start with an underscore.",
    "We never document flags that start with an underscore.",
  ],
  ["From now on, write in the second person.", "From now on, write in the second person."],
])("a rule for later is taken word for word: %s", (text, rule) => {
  expect(readCommentLessons(text).rules).toEqual([rule]);
});

test.each([
  "I have never seen this page.",
  "This is always empty.",
  "Never.",
  "Never ask @ada for a review.",
  "Always read https://example.com/rules first.",
  "Never write this again, it fixes #12.",
  "Always use <script> tags.",
  `Never ${"do this and ".repeat(20)}that.`,
  "> Never mention internal flags.",
])("no rule: %s", (text) => {
  expect(readCommentLessons(text).rules).toEqual([]);
});

test("the lines that somebody suggests", () => {
  const text = "Better:\n```suggestion:-0+0\nThen log in.\n```\nor\n````suggestion\n```sh\n````\n";
  expect(readCommentLessons(text).suggested).toBe("Then log in.\n\n```sh\n");
});
