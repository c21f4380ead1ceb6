import { expect, test } from "vitest";
import { findLessons } from "./find-lessons.ts";

const patch = (...lines: string[]) =>
  `diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1 +1,${lines.length} @@\n-# A\n${lines.map((line) => `+${line}\n`).join("")}`;
const lessons = (proposed: string, merged: string) =>
  findLessons(patch("# A", proposed), async () => `# A\n${merged}\n`);

test.each([
  ["Sign in to the dashboard with your key.", "Log in to the dashboard with your key.", "Sign", "Log", "in"],
  ["Open the page, then sign in, and wait.", "Open the page, then log in, and wait.", "sign", "log", "in"],
  [
    "Use the *API token* of your project here.",
    "Use the *access key* of your project here.",
    "API token",
    "access key",
    "of",
  ],
])("words that people replaced in a line are a lesson: %s", async (proposed, merged, replaced, by, next) => {
  expect(await lessons(proposed, merged)).toEqual([{ path: "a.md", replaced, by, next }]);
});

test.each([
  ["as proposed", "Open the page and wait for it.", "Open the page and wait for it."],
  ["gone", "Open the page and wait for it.", "Something else entirely stands here."],
  ["two places", "Open the page and wait for it.", "Close the page and wait for him."],
  ["only more words", "Open the page and wait for it.", "Open the page and wait patiently for it."],
  ["a number", "The limit is 30 seconds for each call.", "The limit is 60 seconds for each call."],
  ["a name of code", "Call `listJobs` with the project id.", "Call `list_jobs` with the project id."],
  ["a capital", "Open the Page and wait for it.", "Open the page and wait for it."],
  ["markup", "Open the page and wait for it.", "Open the <b>page</b> and wait for it."],
  ["too short", "Sign in now", "Log in now"],
])("no lesson: %s", async (_, proposed, merged) => {
  expect(await lessons(proposed, merged)).toEqual([]);
});

test("settings, and pages that are gone, teach nothing", async () => {
  const proposed = patch("Open the page and wait for it.");
  expect(await findLessons(proposed.replaceAll("a.md", "a.yml"), async () => "Open the file and wait for it.")).toEqual(
    [],
  );
  expect(await findLessons(proposed, async () => null)).toEqual([]);
});
