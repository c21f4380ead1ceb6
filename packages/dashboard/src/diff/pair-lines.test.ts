import { expect, it } from "vitest";
import { pairLines } from "./pair-lines.ts";
import { parsePatch } from "./parse-patch.ts";

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
  const [first, second] = parsePatch(patch);
  expect(first?.slice(1, 4)).toEqual([
    { kind: "context", before: 1, after: 1, text: "same" },
    { kind: "deleted", before: 2, text: "Use an API token here." },
    { kind: "added", after: 2, text: "Use an access key here." },
  ]);
  expect(first?.at(-1)).toEqual({ kind: "note", text: "No newline at end of file" });
  expect(second?.at(-1)).toEqual({ kind: "added", after: 1, text: "diff --git is only words here" });
});

it("sets edited lines beside each other with the words that changed, and others alone", () => {
  const rows = pairLines(parsePatch(patch)[0] ?? []);
  const edited = rows.find((row) => row.words !== null);
  expect(edited?.words?.before.filter((span) => span.isChanged).map((span) => span.text)).toEqual(["API token"]);
  expect(edited?.words?.after.filter((span) => span.isChanged).map((span) => span.text)).toEqual(["access key"]);
  expect(rows.find((row) => row.left?.text === "- gone")?.right).toBeNull();
  expect(rows[1]?.left).toBe(rows[1]?.right);
});
