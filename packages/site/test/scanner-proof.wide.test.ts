import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkMdx from "remark-mdx";
import remarkParse from "remark-parse";
import { unified } from "unified";
import { describe, expect, it } from "vitest";
import { plainDialect } from "../src/parse/dialect.ts";
import { scanText } from "../src/parse/scan-page.ts";
import { markdownDocument, mdxDocument } from "./support/documents.ts";

// The scanner must find what the full parser finds: the same links and headings, in the same order.

interface Node {
  type: string;
  url?: string;
  value?: string;
  depth?: number;
  children?: Node[];
  position?: { start: { offset?: number } };
}

const md = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter, ["yaml", "toml"]);
const mdx = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter, ["yaml", "toml"]).use(remarkMdx);

function textOf(node: Node): string {
  if (node.type === "image" || node.type === "imageReference") return "";
  if (node.type === "text" || node.type === "inlineCode") return node.value ?? "";
  return (node.children ?? []).map(textOf).join("");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function parsed(source: string, syntax: "md" | "mdx"): string[] | null {
  let tree: Node;
  try {
    tree = (syntax === "md" ? md : mdx).parse(source) as Node;
  } catch {
    return null;
  }
  const found: string[] = [];
  const visit = (node: Node): void => {
    const start = node.position?.start.offset ?? 0;
    const isWritten =
      node.type === "link" ? source.charAt(start) === "[" : node.type === "image" || node.type === "definition";
    if (isWritten && node.url !== "") found.push(`${node.type} ${node.url}`);
    if (node.type === "heading") found.push(`h${node.depth} ${oneLine(textOf(node))}`);
    for (const child of node.children ?? []) visit(child);
  };
  visit(tree);
  return found.sort();
}

function scanned(source: string, syntax: "md" | "mdx"): string[] {
  const facts = scanText(Buffer.from(source).toString("latin1"), { ...plainDialect, syntax, headingIds: [] });
  const links = facts.links.filter(({ kind }) => kind === "link" || kind === "image" || kind === "definition");
  return [
    ...links.map(({ kind, target }) => `${kind} ${target}`),
    ...facts.headings.map(({ level, text }) => `h${level} ${oneLine(text)}`),
  ].sort();
}

function* documentsOf(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== ".bin") yield* documentsOf(join(folder, entry.name));
    else if (/\.md$/i.test(entry.name)) yield join(folder, entry.name);
  }
}

describe("the scanner", () => {
  it("sees what the full parser sees in the readmes of the dependencies", () => {
    // Every twelfth is enough for one run, and takes seconds.
    const files = [...documentsOf("node_modules")].sort().filter((_, i) => i % 12 === 0);
    const differing = files.filter((file) => {
      const source = readFileSync(file, "utf8").replace(/^\ufeff/, "");
      // In CommonMark, a lone carriage return ends a line. No editor has written one in decades.
      return (
        source.length < 20_000 &&
        !/\r(?!\n)/.test(source) &&
        parsed(source, "md")?.join("\n") !== scanned(source, "md").join("\n")
      );
    });
    expect(files.length).toBeGreaterThan(10);
    expect(differing).toEqual([]);
  });

  it("sees what the full parser sees in generated Markdown", () => {
    fc.assert(
      fc.property(markdownDocument, (source) => {
        expect(scanned(source, "md")).toEqual(parsed(source, "md"));
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it("sees what the full parser sees in generated MDX", () => {
    fc.assert(
      fc.property(mdxDocument, (source) => {
        const expected = parsed(source, "mdx");
        if (expected !== null) expect(scanned(source, "mdx")).toEqual(expected);
      }),
      { seed: 7, numRuns: 200 },
    );
  });
});
