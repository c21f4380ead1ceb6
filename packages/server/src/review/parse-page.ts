import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkMdx from "remark-mdx";
import remarkParse from "remark-parse";
import { unified } from "unified";
import { isMereCode } from "./mere-code.ts";
import type { CodeRange, PageReading, Syntax } from "./page-reading.ts";
import { readScripts } from "./read-scripts.ts";
import type { Program } from "./script-nodes.ts";

interface Node {
  type: string;
  lang?: string | null;
  meta?: string | null;
  position?: { start: { offset?: number }; end: { offset?: number } };
  children?: readonly Node[];
  name?: string | null;
  attributes?: readonly Node[];
  value?: unknown;
  url?: string;
  data?: { estree?: Program };
}

type Range = Pick<CodeRange, "start" | "end">;

const markdown = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter, ["yaml", "toml"]);
const mdx = markdown().use(remarkMdx).freeze();

/** Reads a page in both ways; nothing is evaluated. Null where its own way cannot read it. */
export function parsePage(text: string, syntax: Syntax): PageReading | null {
  const asMdx = treeOf(mdx, lenient(text));
  const asMarkdown = treeOf(markdown, text);
  const [own, other] = syntax === "mdx" ? [asMdx, asMarkdown] : [asMarkdown, asMdx];
  if (own === null) return null;
  const elsewhere = other === null ? null : codeIn(other, text);
  const code = codeIn(own, text).map((range) => ({
    ...range,
    isSure: elsewhere === null || isWithin(range, elsewhere),
  }));
  // A comment may hide where code ends from the one reading that takes it out first.
  const certain = text.includes("<!--") ? code.filter(({ isSure }) => isSure) : code;
  const { strings, unreadable, comments } = scriptsIn(asMdx, text);
  // What MDX takes for a remark is no link of a page in MDX.
  const read = syntax === "mdx" ? [own] : [own, ...(other === null ? [] : [other])];
  const links = read.flatMap((tree) => nodesOf(tree).flatMap(({ url = [] }) => url));
  const remarks = syntax === "mdx" ? comments.map((range) => ({ ...range, isSure: false })) : [];
  return { code: [...certain, ...remarks], strings, unreadable, isScriptRead: asMdx !== null, links };
}

function treeOf(processor: { parse(text: string): unknown }, text: string): Node | null {
  try {
    return processor.parse(text) as Node;
  } catch {
    return null;
  }
}

/** What other readers of MDX accept by rewriting it first: heading ids and HTML comments, blanked out in place. */
function lenient(text: string): string {
  const blank = (part: string): string => part.replace(/[^\n]/g, " ");
  return text
    .replace(
      /^(#{1,6}[^\n]*?)[ \t]*\{#[\w.:-]+\}[ \t]*$/gm,
      (whole, head: string) => head + blank(whole.slice(head.length)),
    )
    .replace(/<!--[\s\S]*?-->/g, blank);
}

function codeIn(tree: Node, text: string): readonly Range[] {
  const ranges: Range[] = [];
  for (const node of nodesOf(tree)) {
    const start = node.position?.start.offset;
    const end = node.position?.end.offset;
    if (start === undefined || end === undefined) continue;
    if (node.type === "inlineCode") ranges.push({ start, end });
    // Indented code is code for one reading only; and the line that opens a block is not of the block.
    if (node.type === "code" && /[`~]/.test(text[start] ?? "") && isMereCode(node.lang ?? "", node.meta ?? "")) {
      const lines = text.slice(start, end);
      const [first, last] = [lines.indexOf("\n"), lines.lastIndexOf("\n")];
      if (first !== -1 && last > first) ranges.push({ start: start + first, end: start + last });
    }
  }
  return ranges;
}

function isWithin(range: Range, others: readonly Range[]): boolean {
  return others.some(({ start, end }) => start <= range.start && range.end <= end);
}

function scriptsIn(tree: Node | null, text: string): ReturnType<typeof readScripts> {
  const modules: Program[] = [];
  const attributes: { name: string | null; program: Program }[] = [];
  for (const node of tree === null ? [] : nodesOf(tree)) {
    if (node.data?.estree) modules.push(node.data.estree);
    for (const attribute of node.attributes ?? []) {
      const program = attribute.data?.estree ?? (attribute.value as Node | null | undefined)?.data?.estree;
      if (program) attributes.push({ name: attribute.name ?? null, program });
    }
  }
  return readScripts({ modules, attributes }, text);
}

function nodesOf(tree: Node): readonly Node[] {
  const nodes = [tree];
  for (const node of nodes) nodes.push(...(node.children ?? []));
  return nodes;
}
