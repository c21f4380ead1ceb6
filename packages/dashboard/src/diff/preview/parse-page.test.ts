import { expect, it } from "vitest";
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
