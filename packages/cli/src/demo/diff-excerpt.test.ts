import { expect, test } from "vitest";
import { diffExcerpt } from "./diff-excerpt.ts";

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

test("shows a few changed lines of each file, with its new name", () => {
  const diff = fileDiff("a.md", [" kept", "-old", "+new"]) + fileDiff("b.md", ["+1", "+2", "+3", "+4", "+5"]);
  expect(diffExcerpt(diff)).toEqual([
    { kind: "file", text: "a.md" },
    { kind: "removed", text: "-old" },
    { kind: "added", text: "+new" },
    { kind: "file", text: "b.md" },
    { kind: "added", text: "+1" },
    { kind: "added", text: "+2" },
    { kind: "added", text: "+3" },
    { kind: "added", text: "+4" },
  ]);
});

test("stays short however large the diff is, and is empty for a pure rename", () => {
  const many = Array.from({ length: 50 }, (_, index) => fileDiff(`${index}.md`, ["-x", "+y"])).join("");
  expect(diffExcerpt(many).length).toBeLessThanOrEqual(16);
  expect(diffExcerpt("diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n")).toEqual([]);
});
