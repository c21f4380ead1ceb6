import { expect, test } from "vitest";
import { pageBlocks } from "./page-blocks.ts";
import { rankBlocks } from "./rank-blocks.ts";

const page = `---
title: Running
---

# Run

Start it with \`tool run\`.

## Retries

A call is tried three times.

- one
- two

\`\`\`sh
tool run

# not a heading
\`\`\`
`;

test("splits a page into paragraphs, lists and whole samples, with the headings above them", () => {
  expect(pageBlocks("run.md", page).map(({ line, lineEnd, section }) => [line, lineEnd, section])).toEqual([
    [1, 3, ""],
    [5, 7, "Run"],
    [9, 11, "Run > Retries"],
    [13, 14, "Run > Retries"],
    [16, 20, "Run > Retries"],
  ]);
});

test("ranks the block with the rarest words of a change first, in any spelling", () => {
  const blocks = ["Set `dry-run` to see the plan.", "The plan is a file.", "A file of settings.", "Nothing."].flatMap(
    (text, i) => pageBlocks(`${i}.md`, text),
  );
  const change = [{ path: "src/plan.ts", removed: ["const dryRun = false;"], added: ["const dryRun = true; // plan"] }];
  expect(rankBlocks(blocks, change, 20).map(({ path }) => path)).toEqual(["0.md", "1.md"]);
  expect(rankBlocks(blocks, change, 1)).toHaveLength(1);
});

test("a line that only moved says nothing", () => {
  const blocks = pageBlocks("a.md", "Use the `retryLimit`.");
  const line = "const retryLimit = 3;";
  expect(rankBlocks(blocks, [{ path: "x.go", removed: [line], added: [`  ${line}`] }], 20)).toEqual([]);
});
