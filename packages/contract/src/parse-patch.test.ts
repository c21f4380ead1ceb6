import { expect, it } from "vitest";
import { createPatchReader, parsePatch, splitPatch } from "./diff.ts";

it("numbers lines on both sides and takes none of their text for a header", () => {
  const patch = [
    "diff --git a/a.md b/a.md",
    "index 1..2 100644",
    "--- a/a.md",
    "+++ b/a.md",
    "@@ -4,3 +4,3 @@ Heading",
    " same",
    "--- a/looks like a header",
    "+++ b/looks like one too",
    "-diff --git a/x b/x",
    "+@@ -1 +1 @@",
    "\\ No newline at end of file",
    "diff --git a/run.sh b/run.sh",
    "old mode 100644",
    "new mode 100755",
    "diff --git a/logo.png b/logo.png",
    "Binary files a/logo.png and b/logo.png differ",
    "",
  ].join("\n");
  const files = parsePatch(patch);
  expect(files.map(({ path, additions, deletions }) => [path, additions, deletions])).toEqual([
    ["a.md", 2, 2],
    ["run.sh", 0, 0],
    ["logo.png", 0, 0],
  ]);
  expect(splitPatch(patch)).toHaveLength(3);
  expect(splitPatch(patch).join("")).toBe(patch);
  expect(files.map(({ lines }) => lines)).toEqual([
    [
      { kind: "hunk", text: "@@ -4,3 +4,3 @@ Heading" },
      { kind: "context", before: 4, after: 4, text: "same" },
      { kind: "deleted", before: 5, text: "-- a/looks like a header" },
      { kind: "added", after: 5, text: "++ b/looks like one too" },
      { kind: "deleted", before: 6, text: "diff --git a/x b/x" },
      { kind: "added", after: 6, text: "@@ -1 +1 @@" },
      { kind: "note", text: "No newline at end of file" },
    ],
    [
      { kind: "note", text: "old mode 100644" },
      { kind: "note", text: "new mode 100755" },
    ],
    [{ kind: "note", text: "Binary file: not shown" }],
  ]);
});

it("knows what became of each file, and its name however git writes it", () => {
  const patch = [
    "diff --git a/old.md b/new name.md",
    "similarity index 100%",
    "rename from old.md",
    "rename to new name.md",
    'diff --git "a/tab\\there \\303\\251\\"q.md" "b/tab\\there \\303\\251\\"q.md"',
    "new file mode 100644",
    "--- /dev/null",
    '+++ "b/tab\\there \\303\\251\\"q.md"',
    "@@ -0,0 +1 @@",
    "+x",
    "diff --git a/gone b.md b/gone b.md",
    "deleted file mode 100644",
    "--- a/gone b.md\t",
    "+++ /dev/null",
    "@@ -1 +0,0 @@",
    "-x",
    "\\ No newline at end of file",
  ].join("\n");
  const files = [
    { path: "new name.md", pathBefore: "old.md", change: "renamed", additions: 0, deletions: 0 },
    { path: 'tab\there é"q.md', pathBefore: null, change: "added", additions: 1, deletions: 0 },
    { path: "gone b.md", pathBefore: null, change: "deleted", additions: 0, deletions: 1 },
  ];
  expect(parsePatch(patch)).toMatchObject(files);
  const reader = createPatchReader();
  for (const character of patch) reader.read(character);
  expect(reader.end()).toEqual(files);
  expect(parsePatch("")).toEqual([]);
});
