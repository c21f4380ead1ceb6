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

test("words in quotes count more than names of variables, and a page with one good block lifts its others", () => {
  const blocks = [
    ...pageBlocks("a.md", "Waits for the `timeout`."),
    ...pageBlocks("b.md", "Prints the colour.\n\nThe colour may be a theme."),
    ...pageBlocks("c.md", "One theme."),
  ];
  const change = [{ path: "x.go", removed: [], added: ['timeout := read("colour")', "theme()"] }];
  const ranked = rankBlocks(blocks, change, 20).map(({ path, line }) => `${path}:${line}`);
  expect(ranked).toEqual(["b.md:3", "b.md:1", "a.md:1", "c.md:1"]);
});
