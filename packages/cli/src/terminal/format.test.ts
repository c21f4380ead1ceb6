import { expect, test } from "vitest";
import { markdownLines } from "./format.ts";

test("shows paragraphs and lists without their marks", () => {
  const markdown = "## Done\n\nMoved `a` to **b**, see [the page](/b).\n\n\n- one\n  - two\n1. three\n\n";
  expect(markdownLines(markdown, 80)).toEqual([
    "Done",
    "",
    "Moved a to b, see the page.",
    "",
    "· one",
    "  · two",
    "· three",
  ]);
});

test("wraps long items under their text", () => {
  const lines = markdownLines(`- ${"word ".repeat(30)}`, 96);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^ {2}word/);
});

test("lets no control character of a repository through", () => {
  expect(markdownLines("a\u001b[31mb\u202ec", 80)).toEqual(["a\ufffd[31mb\ufffdc"]);
});
