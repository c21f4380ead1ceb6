import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { mdxFromMarkdown } from "mdast-util-mdx";
import { gfm } from "micromark-extension-gfm";
import { mdxjs } from "micromark-extension-mdxjs";
import { collectParts, type Parts } from "./parts.ts";
import { readComment, readHtml } from "./read-html.ts";
import { readFence, readLive, readRole } from "./read-lines.ts";
import { type MdxNode, readMdxNode } from "./read-mdx.ts";
import type { Flavor } from "./syntax.ts";

/** What is read of a node of mdast, whatever its type. */
interface Node extends MdxNode {
  type: string;
  children?: Node[];
  position?: { start: { offset?: number }; end: { offset?: number } };
  url?: string;
  identifier?: string;
  value?: string;
  lang?: string | null;
  meta?: string | null;
}

/** Reads a page's text, which is parsed once. */
export function readMarkdown(parts: Parts, page: string, from: number, flavor: Flavor): void {
  // A blank in front matter's place keeps all positions.
  const text = page.slice(0, from).replaceAll(/[^\n]/g, " ") + page.slice(from);
  if (!flavor.isMdx) return void readTree(parts, text, parsePlain(text), flavor);
  const [mdx, isMasked] = parseMdx(text);
  if (mdx === null) {
    // No builder of MDX takes this page. Others may: then every brace is in doubt.
    return void readTree(parts, text, parsePlain(text), {
      ...flavor,
      isMdx: false,
      isUnsure: true,
      hasBraces: true,
    });
  }
  if (isMasked) for (const { index } of text.matchAll(/<!--/g)) readComment(parts, text, index);
  readTree(parts, text, mdx, flavor);
}

function parsePlain(text: string): Node {
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }) as Node;
}

/** Docusaurus and others allow comments and names of headings that MDX itself does not know. */
function parseMdx(text: string): [Node | null, boolean] {
  const options = { extensions: [gfm(), mdxjs()], mdastExtensions: [gfmFromMarkdown(), mdxFromMarkdown()] };
  const blank = (one: string) => one.replaceAll(/[^\n]/g, " ");
  const masked = text.replaceAll(/<!--(?:(?!-->)[^`])*-->/g, blank).replaceAll(/\{#[\w.:-]+\}(?=[ \t]*$)/gm, blank);
  for (const one of new Set([text, masked])) {
    try {
      return [fromMarkdown(one, options) as Node, one !== text];
    } catch {
      // The other form is tried.
    }
  }
  return [null, false];
}

function readTree(parts: Parts, text: string, tree: Node, flavor: Flavor): void {
  const html = { isVue: flavor.isVue, isTemplate: flavor.templates !== "" };
  /** What the lines' reader must not see: code, and what was read here. */
  const masks: [number, number][] = [];
  /** Elements that are open: some builders read no Markdown in them. */
  let open = 0;
  /** A lone tick may begin code that goes on. */
  let lone = 0;
  /** A fence that does not end where it should: nobody knows what is code from there on. */
  let isLost = false;
  const pictures = new Set<string>();
  const links = new Set<string>();
  const imports = new Set<string>();
  const mask = (start: number, end: number) => void masks.push([start, end]);

  /** Code is shown, unless some builder may read it as something that acts. */
  const readCode = (start: number, end: number, isInert: boolean) => {
    const raw = text.slice(start, end);
    const reason = "Some builders may not read this as code.";
    if (isInert || !isActive(raw, flavor)) parts.sample(raw, start);
    else parts.unknown("code block", `${open} ${behind(text, start, end)}`, start, reason);
    mask(start, end);
  };

  const visit = (node: Node, inTable: boolean, inHeading: boolean): void => {
    const start = node.position?.start.offset ?? -1;
    const end = node.position?.end.offset ?? -1;
    const raw = text.slice(Math.max(0, start), Math.max(0, end));
    const { type, identifier = "" } = node;
    if (type === "text" && raw.includes("`")) lone += 1;
    if (type === "code" && start !== -1) {
      const isSure = readFence(parts, text, { start, end, lang: node.lang ?? null, meta: node.meta ?? null }, flavor);
      readCode(start, end, flavor.isMdx || (isSure && !isLost && ((open === 0 && lone === 0) || !flavor.isUnsure)));
      if (/^(?:`{3}|~{3})/.test(raw) && !/\n[ \t>]*(?:`{3,}|~{3,})$/.test(raw)) isLost = true;
    } else if (type === "inlineCode" && start !== -1) {
      const isInHtml = inHeading || (open > 0 && flavor.isUnsure);
      readCode(start, end, flavor.isMdx || isSureSpan(text, start, end, inTable, isInHtml));
      // MyST: a name in braces in front of code is a role.
      const [, role] = /\{([^{}\s`]{1,60})\}$/.exec(text.slice(Math.max(0, start - 62), start)) ?? [];
      if (role !== undefined) readRole(parts, role, text.slice(start - role.length - 2, end), start);
    } else if (type === "html" && start !== -1) {
      readHtml(parts, text, start, end, html);
      for (const [, slash, name = ""] of raw.matchAll(/<(\/?)([A-Za-z][\w-]*)(?![^>]*\/>)/g))
        if (!inlineElements.test(name)) open = Math.max(0, open + (slash ? -1 : 1));
      // Its text between tags is on the page.
      for (const { 0: tag, index } of raw.matchAll(/<[^<>]*>|<!--[\s\S]*?-->/g))
        mask(start + index, start + index + tag.length);
    } else if ((type === "link" || type === "image" || type === "definition") && start !== -1) {
      const isDefinition = type === "definition";
      const isPicture = isDefinition && pictures.has(identifier);
      const isUnused = isDefinition && !isPicture && !links.has(identifier);
      parts.address(node.url ?? "", start, { loads: type === "image" || isPicture, isUnused, text: raw });
      if (isDefinition || text[start] === "<") mask(start, end);
    } else if (flavor.isMdx && type.startsWith("mdx") && start !== -1)
      mask(start, readMdxNode(parts, text, node, imports, flavor));
    for (const child of node.children ?? [])
      visit(child, inTable || type === "tableCell", inHeading || type === "heading");
  };
  const findReferences = ({ type, identifier = "", children = [] }: Node): void => {
    if (type === "imageReference") pictures.add(identifier);
    if (type === "linkReference") links.add(identifier);
    for (const child of children) findReferences(child);
  };
  findReferences(tree);
  visit(tree, false, false);
  const live = withMasks(text, masks);
  readLive(parts, text, live, flavor);
  // What one parser takes for text may be a tag for another.
  if (!flavor.isMdx && live.includes("<")) readHtml(parts, live, 0, live.length, html);
}

/** All others may keep Markdown from being read in them. */
const inlineElements =
  /^(?:a|b|i|em|strong|code|kbd|span|sub|sup|br|img|hr|input|small|u|s|mark|del|ins|q|cite|abbr|var|samp|dfn|wbr|font|source|col|tt|summary)$/i;

/** How much of a line is read before each span: on one huge line, reading all of it each time would be quadratic. */
const behindMax = 2_000;

/** Known only behind the same line: behind another one it may not be code. */
function behind(text: string, start: number, end: number): string {
  const before = text.slice(Math.max(0, start - behindMax), start).trimEnd();
  return `${before.slice(before.lastIndexOf("\n") + 1)}\n${text.slice(start, end)}`;
}

function withMasks(text: string, masks: [number, number][]): string {
  let [live, from] = ["", 0];
  for (const [start, end] of masks.sort((a, b) => a[0] - b[0])) {
    if (end <= from) continue;
    const at = Math.max(start, from);
    live += text.slice(from, at) + text.slice(at, end).replaceAll(/[^\n]/g, " ");
    from = end;
  }
  return live + text.slice(from);
}

/** Whether the text would do something if it were not code. */
function isActive(code: string, flavor: Flavor): boolean {
  const scratch = collectParts();
  readHtml(scratch, code, 0, code.length, { isVue: flavor.isVue });
  readLive(scratch, code, code, flavor);
  for (const { 1: url = "", index } of code.matchAll(/\]\(\s*<?([^)\s>]*)|\]:\s*<?(\S+)/g))
    if (/:|\/\//.test(url)) scratch.address(url, index, { loads: true });
  return scratch.all.some(
    (part) => part.kind !== "sample" && part.isCover !== true && !(part.kind === "address" && !part.loads),
  );
}

/** A span of code that every parser reads alike: on one line, with no other mark that could end it or begin before it. */
function isSureSpan(text: string, start: number, end: number, inTable: boolean, isInHtml: boolean): boolean {
  const raw = text.slice(start, end);
  const [ticks = ""] = /^`+/.exec(raw) ?? [];
  const inner = raw.slice(ticks.length, -ticks.length);
  const near = text.slice(Math.max(0, start - behindMax), start);
  const before = near.slice(near.lastIndexOf("\n") + 1);
  if (
    before.length === behindMax ||
    isInHtml ||
    /^ [^`]/.test(inner) ||
    inner.includes("\n") ||
    inner.includes("`") ||
    (inTable && inner.includes("|"))
  )
    return false;
  if (/\\$|[`]$/.test(before) || text[end] === "`") return false;
  // Each tick before it on the line is half of a pair.
  const others = before.replaceAll(/(`+)(?:(?!`)[^\n])+?\1(?!`)/g, "");
  return (
    !others.includes("`") &&
    !/<[a-z!/?]|\{[^}]*$|\$[^$]*$/i.test(others) &&
    !/^ {4}|^\t|^[\s>]*(?:\[!|:{3})/.test(before)
  );
}
