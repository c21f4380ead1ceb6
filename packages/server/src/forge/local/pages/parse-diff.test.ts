import { describe, expect, it } from "vitest";
import { parseDiffFiles, parsePatch } from "./parse-diff.ts";

describe("a diff's list of files", () => {
  it("takes names as they are: renames, binaries, tabs and colons in them", () => {
    const output = [
      ":100644 100644 aaa bbb M\0:odd\tname.md\0",
      ":100644 100644 aaa bbb R090\0old.md\0new.md\0",
      ":000000 100644 000 bbb A\0logo.png\0",
      ":100644 000000 aaa 000 D\0gone.md\0",
      "1\t2\t:odd\tname.md\0",
      "3\t4\t\0old.md\0new.md\0",
      "-\t-\tlogo.png\0",
      "0\t9\tgone.md\0",
    ].join("");
    expect(parseDiffFiles(output)).toEqual([
      { status: "modified", path: ":odd\tname.md", pathBefore: null, added: 1, deleted: 2 },
      { status: "renamed", path: "new.md", pathBefore: "old.md", added: 3, deleted: 4 },
      { status: "added", path: "logo.png", pathBefore: null, added: null, deleted: null },
      { status: "deleted", path: "gone.md", pathBefore: null, added: 0, deleted: 9 },
    ]);
  });
});

describe("a patch", () => {
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
});
