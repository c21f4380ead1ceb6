import { expect, it } from "vitest";
import { diffWords, pairLines, parsePatch } from "./diff.ts";

const patch = [
  "diff --git a/a.md b/a.md",
  "--- a/a.md",
  "+++ b/a.md",
  "@@ -1,4 +1,4 @@",
  " same",
  "-Use an API token here.",
  "+Use an access key here.",
  "-- gone",
  " end",
  "\\ No newline at end of file",
  "diff --git a/b.md b/b.md",
  "new file mode 100644",
  "--- /dev/null",
  "+++ b/b.md",
  "@@ -0,0 +1 @@",
  "+diff --git is only words here",
].join("\n");

it("cuts a patch by file and numbers its lines", () => {
  const [first, second] = parsePatch(patch).map(({ lines }) => lines);
  expect(first?.slice(1, 4)).toEqual([
    { kind: "context", before: 1, after: 1, text: "same" },
    { kind: "deleted", before: 2, text: "Use an API token here." },
    { kind: "added", after: 2, text: "Use an access key here." },
  ]);
  expect(first?.at(-1)).toEqual({ kind: "note", text: "No newline at end of file" });
  expect(second?.at(-1)).toEqual({ kind: "added", after: 1, text: "diff --git is only words here" });
});

it("sets edited lines beside each other, and others alone", () => {
  const rows = pairLines(parsePatch(patch)[0]?.lines ?? [], { stacked: false });
  expect(rows.map(({ left, right, isEdited }) => [left?.text, right?.text, isEdited]).slice(1)).toEqual([
    ["same", "same", false],
    ["Use an API token here.", "Use an access key here.", true],
    ["- gone", undefined, false],
    ["end", "end", false],
    ["No newline at end of file", "No newline at end of file", false],
  ]);
  const words = diffWords("Use an API token here.", "Use an access key here.");
  expect(words?.before.filter((span) => span.isChanged).map((span) => span.text)).toEqual(["API token"]);
  expect(words?.after.filter((span) => span.isChanged).map((span) => span.text)).toEqual(["access key"]);
});

it("keeps git's order in one column where lines do not pair", () => {
  const lines = parsePatch("diff --git a/a b/a\n@@ -1,2 +1 @@\n-one\n-two\n+three\n")[0]?.lines ?? [];
  const textsOf = (stacked: boolean) =>
    pairLines(lines, { stacked }).map(({ left, right }) => [left?.text ?? null, right?.text ?? null]);
  expect(textsOf(true).slice(1)).toEqual([
    ["one", null],
    ["two", null],
    [null, "three"],
  ]);
  expect(textsOf(false).slice(1)).toEqual([
    ["one", "three"],
    ["two", null],
  ]);
});
