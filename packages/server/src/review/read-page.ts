import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkMdx from "remark-mdx";
import remarkParse from "remark-parse";
import { parse as parseToml } from "smol-toml";
import { unified } from "unified";
import { parse as parseYaml } from "yaml";
import { hostsIn } from "../lib/hosts-in.ts";
import { isMereCode, runs } from "./mere-code.ts";
import { takeNotes } from "./notes.ts";
import type { Notes, PageReading, Syntax } from "./page-reading.ts";
import { readAttribute, readTag } from "./read-attribute.ts";
import { readDirectives } from "./read-directives.ts";
import { readMarkup } from "./read-markup.ts";
import { namesIn, readExpression, readModule } from "./read-script.ts";
import type { ScriptNode } from "./script-nodes.ts";

interface Node {
  type: string;
  children?: readonly Node[];
  position?: { start: { offset?: number }; end: { offset?: number } };
  value?: unknown;
  url?: string;
  identifier?: string;
  lang?: string | null;
  meta?: string | null;
  name?: string | null;
  attributes?: readonly Node[];
  data?: { estree?: ScriptNode };
}

const markdown = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter, ["yaml", "toml"]);
const mdx = markdown().use(remarkMdx).freeze();

/** Reads a page as its builder would, by the parsers that builders use; nothing is evaluated. */
export function readPage(text: string, syntax: Syntax): PageReading {
  const notes = takeNotes();
  if (syntax === "markup") {
    readMarkup(notes, text);
    if (/<!ENTITY|<\?xml-stylesheet/i.test(text)) notes.code("<!ENTITY", "a document type with entities", 0);
  } else if (syntax === "rst" || syntax === "asciidoc") {
    readDirectives(notes, text, text, syntax);
    readPlain(notes, text);
  } else readMarkdown(notes, text, syntax);
  return notes.reading();
}

/** Text that no parser here takes apart: each address in it counts, and what looks like one that runs. */
function readPlain(notes: Notes, text: string): void {
  for (const line of text.matchAll(/[^\n]+/g)) {
    for (const host of hostsIn(line[0])) notes.address(`//${host}`, line.index);
    for (const [scheme] of line[0].matchAll(/\b(?:javascript|vbscript|data|file):(?=[^\s`])/gi)) {
      if (!/^data:$/i.test(scheme) || /data:\w+\//i.test(line[0]))
        notes.code(scheme, `a ${scheme} address`, line.index);
    }
  }
}

function readMarkdown(notes: Notes, text: string, syntax: "markdown" | "mdx"): void {
  const [, language] = /^---+[ \t]*(\S+)/.exec(text) ?? [];
  if (language && !/^(?:ya?ml|toml|json|-+)$/.test(language)) notes.code(`---${language}`, "front matter that runs", 0);
  const asMdx = syntax === "mdx" ? treeOf(mdx, lenient(text)) : null;
  if (syntax === "mdx" && asMdx === null) {
    notes.code("unreadable", "a page that cannot be parsed as MDX", 0);
    for (const { 0: source, index } of text.matchAll(/\{[^{}\n]{0,500}\}/g)) notes.code(source, "an expression", index);
  }
  const tree = asMdx ?? (markdown.parse(text) as Node);
  const nodes = nodesOf(tree);
  const used = new Set(nodes.filter(({ type }) => type.endsWith("Reference")).map(({ identifier }) => identifier));
  const modules = nodes.filter(({ type }) => type === "mdxjsEsm").map(({ data }) => data?.estree as ScriptNode);
  const names = new Set(modules.flatMap((module) => [...namesIn(module)]));
  for (const module of modules) readModule(notes, module, text);
  for (const node of nodes) readNode(notes, node, { text, names, used });
  readDirectives(notes, withoutCode(text, nodes), text, syntax);
}

interface Page {
  text: string;
  names: ReadonlySet<string>;
  used: ReadonlySet<string | undefined>;
}

const isMarkup = /<[a-z][^<]*[=/]/i;

function readNode(notes: Notes, node: Node, { text, names, used }: Page): void {
  const [at, end] = [node.position?.start.offset ?? 0, node.position?.end.offset];
  const value = typeof node.value === "string" ? node.value : "";
  switch (node.type) {
    case "link":
    case "image":
      return void notes.address(node.url ?? "", at, { loads: node.type === "image" });
    case "definition":
      return void notes.address(node.url ?? "", at, used.has(node.identifier) ? {} : { isUnused: true });
    case "html":
      return void readMarkup(notes, value, at);
    case "text":
      // Not every reader of Markdown agrees with CommonMark on what is a tag.
      if (isMarkup.test(value)) readMarkup(notes, text.slice(at, end).replaceAll("\\<", "  "), at);
      return;
    case "yaml":
    case "toml":
      return void readFrontMatter(notes, value, node.type);
    case "inlineCode":
      return void notes.shown(value, at);
    case "code":
      return void readFence(notes, node, value, { at, isFenced: /[`~]/.test(text[at] ?? "") });
    case "mdxJsxFlowElement":
    case "mdxJsxTextElement":
      readTag(notes, node.name ?? "", [], at);
      for (const attribute of node.attributes ?? []) readJsxAttribute(notes, node, attribute, { text, names });
      return;
    case "mdxFlowExpression":
    case "mdxTextExpression":
      if (node.data?.estree) readExpression(notes, node.data.estree, text, names);
  }
}

function readJsxAttribute(
  notes: Notes,
  { name: tag, position }: Node,
  { name, value, data }: Node,
  { text, names }: Pick<Page, "text" | "names">,
): void {
  const at = position?.start.offset ?? 0;
  const program = data?.estree ?? (value as Node | null | undefined)?.data?.estree;
  if (program) readExpression(notes, program, text, names);
  const [first] = (program?.body ?? []) as readonly { expression?: { value?: unknown } }[];
  const literal = program ? first?.expression?.value : value;
  readAttribute(notes, (tag ?? "").toLowerCase(), { name: name ?? "", value: String(literal ?? " ") }, at);
}

function readFence(notes: Notes, node: Node, value: string, { at, isFenced }: { at: number; isFenced: boolean }): void {
  const [lang, meta] = [node.lang ?? "", node.meta ?? ""];
  // Docusaurus takes such a block for a part of the page.
  if (lang === "mdx-code-block") return void readMarkdown(notes, value, "mdx");
  if (runs(lang, meta)) notes.code(`${lang} ${meta}\n${value}`, `a block that runs (${lang} ${meta})`, at);
  if (isFenced && isMereCode(lang, meta)) notes.shown(value, at);
  else notes.value(value, at);
  notes.value(meta, at);
}

/** Keys by which front matter adds scripts to a page's head. */
const headKeys = /^(?:head|scripts?|javascripts?|extra_javascript|styles?|stylesheets?|hooks)$/i;

function readFrontMatter(notes: Notes, text: string, kind: "yaml" | "toml"): void {
  try {
    const fields: unknown = kind === "yaml" ? parseYaml(text, { logLevel: "silent" }) : parseToml(text);
    if (/(?:^|\s)!!?(?:python|js|ruby|php)\b/m.test(text)) notes.code(text, "front matter that runs", 0);
    JSON.stringify(fields, (key, value) => {
      if (headKeys.test(key)) notes.code(`${key}: ${JSON.stringify(value)}`, `${key} in the front matter`, 0);
      if (typeof value === "string") notes.value(value, 0);
      return value;
    });
  } catch {
    notes.value(text, 0);
  }
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

/** With blanks in place of samples, so that offsets stay. */
function withoutCode(text: string, nodes: readonly Node[]): string {
  let rest = text;
  for (const { type, position } of nodes) {
    const [start, end] = [position?.start.offset, position?.end.offset];
    if ((type !== "code" && type !== "inlineCode") || start === undefined || end === undefined) continue;
    rest = rest.slice(0, start) + rest.slice(start, end).replaceAll(/[^\n]/g, " ") + rest.slice(end);
  }
  return rest;
}

function nodesOf(tree: Node): readonly Node[] {
  const nodes = [tree];
  for (const node of nodes) nodes.push(...(node.children ?? []));
  return nodes;
}
