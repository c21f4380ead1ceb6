import { expect, it } from "vitest";
import { parsePatch } from "./diff.ts";

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
  expect(parsePatch(patch)).toEqual([
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
