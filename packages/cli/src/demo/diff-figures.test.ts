import { expect, test } from "vitest";
import { diffFigures } from "./show-report.ts";

test("counts lines, and is not fooled by lines that look like heads", () => {
  const diff = [
    "diff --git a/a.mdx b/a.mdx",
    "index 1..2 100644",
    "--- a/a.mdx",
    "+++ b/a.mdx",
    "@@ -1,3 +1,4 @@",
    " kept",
    "--- a rule in the text",
    "+diff --git a/x b/x",
    "++++ plus",
    " kept",
    "@@ -9 +10 @@ heading",
    "-old",
    "\\ No newline at end of file",
    "+new",
    "diff --git a/b.mdx b/c.mdx",
    "similarity index 100%",
    "rename from b.mdx",
    "rename to c.mdx",
    "",
  ].join("\n");
  expect(diffFigures(diff)).toEqual({ linesAdded: 3, linesRemoved: 2 });
});

test("finds nothing in an empty diff", () => {
  expect(diffFigures("")).toEqual({ linesAdded: 0, linesRemoved: 0 });
});
