import { parsePatch } from "@emend/contract";
import { expect, it } from "vitest";
import { comparePages, passagesOf, textBefore } from "./compare-pages.ts";
import { parsePage } from "./parse-page.ts";

const kindsOf = (path: string, text: string) => parsePage(path, text).tree.children.map(({ type }) => type);

it("takes front matter off the top", () => {
  expect(parsePage("a.md", "---\ntitle: A\n---\n# A\n")).toMatchObject({
    frontMatter: "title: A",
    tree: { children: [{ type: "heading" }] },
  });
  expect(parsePage("a.md", "Text\n\n---\n\nMore").frontMatter).toBeNull();
});

it("reads components of MDX as nodes with what is inside them, and expressions as expressions", () => {
  const page = "<Card title={alert(1)}>\n\n**bold**\n\n</Card>\n\n{process.exit()}\n";
  const [card] = parsePage("a.mdx", page).tree.children;
  expect(kindsOf("a.mdx", page)).toEqual(["mdxJsxFlowElement", "mdxFlowExpression"]);
  expect(card).toMatchObject({ name: "Card", children: [{ type: "paragraph" }] });
});

it("reads broken MDX, and tags outside MDX, as words", () => {
  expect(kindsOf("a.mdx", "<Card>\n\nnever closed\n")).toEqual(["html", "paragraph"]);
  expect(kindsOf("a.md", "<script>alert(1)</script>\n")).toEqual(["html"]);
});

const before = "---\ntitle: A\n---\n\n# Title\n\nFirst.\n\nGone.\n\n- one\n- two\n\nLast.\n";
const after = "---\ntitle: A\n---\n\n# Title\n\nFirst, edited.\n\n- one\n- two\n- three\n\nLast.\n";
const patch = `diff --git a/a.md b/a.md
--- a/a.md
+++ b/a.md
@@ -6,9 +6,8 @@
 
-First.
-
-Gone.
+First, edited.
 
 - one
 - two
+- three
 
 Last.
`;
const lines = parsePatch(patch)[0]?.lines ?? [];

it("finds the old text by its diff, and no text where the file is another one", () => {
  expect(textBefore(after, lines)).toBe(before);
  expect(textBefore(after.replace("edited", "again"), lines)).toBeNull();
  const emptied = parsePatch("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +0,0 @@\n-one\n-two\n")[0]?.lines ?? [];
  expect(textBefore("", emptied)).toBe("one\ntwo\n");
});

it("pairs the blocks of both versions by their lines", () => {
  const { rows, added } = comparePages("a.md", { before, after }, lines);
  const shown = rows.map((row) => [row.isSame, ...[row.before, row.after].map((all) => all.map(({ text }) => text))]);
  expect(shown).toEqual([
    [true, ["---\ntitle: A\n---"], ["---\ntitle: A\n---"]],
    [true, ["# Title"], ["# Title"]],
    [false, ["First.", "Gone.", "- one\n- two"], ["First, edited.", "- one\n- two\n- three"]],
    [true, ["Last."], ["Last."]],
  ]);
  expect([...added]).toEqual([7, 11]);
  // Where nothing else is stored, the passages of the diff are two short pages.
  const passages = passagesOf(lines);
  expect(passages.after).toContain("First, edited.");
  const short = comparePages("a.md", passages, passages.lines);
  expect(short.rows.at(-1)).toMatchObject({ isSame: true, after: [{ text: "Last." }] });
});
