import { expect, test } from "vitest";
import { diffExcerpt } from "./show-report.ts";

function fileDiff(name: string, lines: readonly string[]): string {
  return [
    `diff --git a/${name} b/${name}`,
    "index 1..2",
    `--- a/${name}`,
    `+++ b/${name}`,
    "@@ -1,9 +1,9 @@",
    ...lines,
    "",
  ].join("\n");
}

const shown = (diff: string) => diffExcerpt(diff).lines.map(({ text }) => text);

test("shows a few changed lines of each file, with its new name", () => {
  const diff = fileDiff("a.md", [" kept", "-old", "+new"]) + fileDiff("b.md", ["+1", "+2", "+3", "+4", "+5"]);
  expect(shown(diff)).toEqual(["a.md", "-old", "+new", "b.md", "+1", "+2", "+3", "+4"]);
  expect(
    diffExcerpt(diff)
      .lines.map(({ kind }) => kind)
      .slice(0, 3),
  ).toEqual(["file", "removed", "added"]);
});

test("says whether it has every changed line", () => {
  expect(diffExcerpt(fileDiff("a.md", ["-old", "+new"])).isWhole).toBe(true);
  expect(diffExcerpt(fileDiff("a.md", ["+1", "+2", "+3", "+4", "+5"])).isWhole).toBe(false);
  const many = Array.from({ length: 50 }, (_, index) => fileDiff(`${index}.md`, ["-x", "+y"])).join("");
  expect(diffExcerpt(many).isWhole).toBe(false);
});

test("knows where a line and its successor begin to differ", () => {
  const { lines } = diffExcerpt(fileDiff("a.md", ["-An old word", "+An odd word", "+More"]));
  expect(lines.map(({ differsAt }) => differsAt)).toEqual([0, 5, 5, 0]);
});

test("stays short however large the diff is, and is empty for a pure rename", () => {
  const many = Array.from({ length: 50 }, (_, index) => fileDiff(`${index}.md`, ["-x", "+y"])).join("");
  expect(diffExcerpt(many).lines.length).toBeLessThanOrEqual(16);
  expect(shown("diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n")).toEqual([]);
});
