import { isAscii } from "node:buffer";
import {
  append,
  decodePiece,
  encodePiece,
  fromByteString,
  indexLines,
  isAsciiText,
  textStart,
  toByteString,
} from "../text/bytes.ts";
import { type HeadingBlock, normalizeLabel, type TextBlock } from "./blocks.ts";
import { decodeEntities, decodeEscapes } from "./destination.ts";
import type { Dialect, Heading, HeadingIdForm, Link, LinkKind, PageFacts } from "./dialect.ts";
import { frontMatterLinks, readFrontMatter } from "./front-matter.ts";
import { headingText, withLongDashes } from "./heading-text.ts";
import { createOffsetMap, joinLines } from "./leaf-blocks.ts";
import { briefOf, madeMark, ownFindings, type PageBrief, unknownId } from "./page-brief.ts";
import { scanBlocks } from "./scan-blocks.ts";
import { scanMarkup } from "./scan-flow.ts";
import { findMarks, type InlineSink, scanInline } from "./scan-inline.ts";
import { createComponentIds, type Tag, tagFacts } from "./scan-tag.ts";
import { readSilencers, silencerWord } from "./silencers.ts";
import { createSlugger } from "./slug.ts";

/** Larger pages are not parsed: nobody reads them, and a scan must not take seconds. */
export const pageBytesMax = 4 * 1024 * 1024;
const linksMax = 20_000;

const shortcode = /^\{[{%][<%-]?\s*([a-z][\w-]*)/i;
// What shows text, links or code as they are written.
const plainShortcode =
  /^(?:end|ref$|relref$|link$|post_url$|site$|page$|raw$|highlight$|comment$|assign$|capture$|if$|else|elsif$|for$|unless$|case$|when$|figure$|image$|img$|icon$|alert$|note$|tip$|warning$|info$|caution$|important$|hint$|tabs?$|tabpane$|code|param$|embed$|content-ref$|file$|youtube$|gist$|stepper$|step$|columns?$|card|button$|details$|accordion|updates?$)/;

// Components that only arrange what is written inside of them.
const plainComponent =
  /^(?:Tabs?|TabItem|TabPanel|Cards?|CardGroup|CardGrid|LinkCard|LinkButton|Callout|Aside|Admonition|Steps?|Accordions?|AccordionGroup|Note|Tip|Warning|Info|Danger|Caution|Check|Details|Columns?|Frame|Icon|Badge|Button|Image|Img|Video|CodeBlock|CodeGroup|Code|Files?|Folder|FileTree|Tree|Link|Head|Fragment|Trans|ClientOnly|Expandable|Tooltip|Update|View|PackageManagers|ParamField|ResponseField|RequestExample|ResponseExample|Cards\.Card|Tabs\.Tab|Panel|Visibility|Prompt|Banner|Latex|Mermaid|YouTube)$/;

/** Whether a component may draw headings that only the build knows. */
function mayDrawHeadings(name: string, { syntax, slug }: Dialect): boolean {
  if (slug === "vitepress") return /^[A-Z]/.test(name) && !plainComponent.test(name);
  return syntax === "mdx" && /^[A-Z]/.test(name) && !plainComponent.test(name);
}

const apiTag = /^\{%-?\s*(?:openapi|swagger)/;
const bareHere = /^(?:click )?here\.?$|^(?:this|this link|link)$/i;

export function scanPage(bytes: Uint8Array, dialect: Dialect): PageFacts {
  if (bytes.byteLength > pageBytesMax) return { ...emptyFacts(), unread: "too large" };
  const text = toByteString(bytes);
  const facts = scanBytes(bytes, text, dialect);
  return placeFacts(facts, text, isAscii(bytes));
}

/** Scans a page for its brief. Positions are computed only if a check found something. */
export function scanBrief(bytes: Uint8Array, dialect: Dialect): PageBrief {
  if (bytes.byteLength > pageBytesMax) return briefOf({ ...emptyFacts(), unread: "too large" });
  const text = toByteString(bytes);
  const facts = scanBytes(bytes, text, dialect);
  const brief = briefOf(facts);
  if (facts.unread === undefined && text.includes(silencerWord)) brief.silencers = readSilencers(text, dialect);
  return brief.own.length === 0 ? brief : { ...brief, own: ownFindings(placeFacts(facts, text, isAscii(bytes))) };
}

function scanBytes(bytes: Uint8Array, text: string, dialect: Dialect): PageFacts {
  if (text.includes("\0")) return { ...emptyFacts(), unread: "binary" };
  const facts = scanUnplaced(text, bytes, dialect, isAscii(bytes));
  return facts.links.length > linksMax ? { ...emptyFacts(), unread: "too large" } : facts;
}

/** Fills in lines and columns, which the scan omits. */
function placeFacts(facts: PageFacts, text: string, isPlain: boolean): PageFacts {
  const { place } = indexLines(text, isPlain);
  for (const link of facts.links) Object.assign(link, place(link.start));
  for (const heading of facts.headings) Object.assign(heading, place(heading.start));
  facts.bareFences = facts.bareFences.map(({ column }) => place(column));
  if (facts.openFence !== undefined) facts.openFence = place(facts.openFence.column);
  if (facts.textLinks !== undefined)
    facts.textLinks = facts.textLinks.map(({ column, label }) => ({ ...place(column), label }));
  return facts;
}

/** Joins the lines of a heading. A regular expression for the white space around a break would take quadratic time. */
function oneLine(text: string): string {
  if (!text.includes("\n")) return text.trim();
  return text
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
    .trim();
}

/** A footnote and its reference are anchors. */
function footnoteIds(label: string, { slug, templates }: Dialect): string[] {
  if (slug === "python") return [`fn:${label}`, `fnref:${label}`];
  if (slug === "vitepress" || slug === "mintlify") return [];
  const name = label.toLowerCase();
  // kramdown's footnotes have Python-Markdown's names.
  const kramdown = templates ? [`fn:${label}`, `fnref:${label}`] : [];
  return [...kramdown, "footnote-label", `user-content-fn-${name}`, `user-content-fnref-${name}`];
}

export function emptyFacts(): PageFacts {
  return { frontMatter: null, headings: [], links: [], ids: [], bareFences: [] };
}

/** Scans a page, held as a byte string, for its facts. */
export function scanText(text: string, dialect: Dialect): PageFacts {
  const isPlain = isAsciiText(text);
  return placeFacts(scanUnplaced(text, fromByteString(text), dialect, isPlain), text, isPlain);
}

/** The same without lines and columns. A fence has its offset as column. */
function scanUnplaced(text: string, bytes: Uint8Array, dialect: Dialect, isPlain: boolean): PageFacts {
  const facts = emptyFacts();
  const marks = findMarks(bytes);
  const bodyFrom = textStart(text);
  facts.frontMatter = readFrontMatter(text, bodyFrom);
  const blocks = scanBlocks(text, facts.frontMatter?.bodyStart ?? bodyFrom, dialect);
  const decode = isPlain ? (piece: string) => piece : decodePiece;
  const labels: ReadonlySet<string> = new Set(blocks.definitions.map((definition) => definition.label));

  const headingLabels = blocks.footnotes.size === 0 ? labels : new Set([...labels, ...blocks.footnotes.keys()]);

  const made = new Set<string>();
  const componentIds = dialect.slug === "mintlify" ? createComponentIds() : null;
  const hasAttributes = dialect.headingIds.includes("attributes");

  // MyST writes the title of a target for a link without text, and MkDocs' plugins define labels of their own.
  const isCompletedByBuild = dialect.includes === "myst" || dialect.slug === "python";

  let written: ReadonlySet<string> | null = null;
  /** Whether any reading of the page has a definition: builds fill in templates and includes before they look. */
  function mayBeDefined(label: string): boolean {
    written ??= new Set([...text.matchAll(/^[ \t>]*\[([^\]\n]+)\]:/gm)].map(([, name = ""]) => normalizeLabel(name)));
    return written.has(normalizeLabel(label));
  }

  function addLink(kind: LinkKind, start: number, end: number): Link | null {
    const raw = decode(text.slice(start, end));
    const isMarkdown = kind === "link" || kind === "image" || kind === "definition";
    const target = decodeEntities(isMarkdown ? decodeEscapes(raw) : raw).trim();
    if (target === "") return null;
    const link: Link = { kind, target, start, end, line: 0, column: 0 };
    facts.links.push(link);
    return link;
  }

  /** Records what is found in a text. `at` maps its offsets to the page's. */
  function sinkFor(joined: string, at: (offset: number) => number): InlineSink {
    return {
      link(isImage, textFrom, textTo, start, end) {
        const link = addLink(isImage ? "image" : "link", at(start), at(end));
        if (link === null) return;
        const words = joined.slice(textFrom, textTo).trim();
        if (isImage && words === "") link.noAlt = true;
        if (!isImage && words.length < 12 && bareHere.test(words)) link.here = true;
        if (!isImage && words === "" && !isCompletedByBuild) link.noText = true;
      },
      textLink(start, label) {
        if (label !== null && (isCompletedByBuild || mayBeDefined(label))) return;
        facts.textLinks ??= [];
        facts.textLinks.push({ line: 0, column: at(start), label: label === null ? null : decode(label) });
      },
      tag(tag: Tag) {
        if (!tag.closing && mayDrawHeadings(tag.name, dialect)) made.add(`\`<${tag.name}>\``);
        const id = componentIds === null || tag.closing ? null : componentIds(tag, joined);
        if (id !== null) facts.ids.push(id);
        tagFacts(tag, joined, facts.ids, (kind, start, end) => addLink(kind, at(start), at(end)), dialect);
      },
      template(start, end) {
        const named = dialect.templates ? shortcode.exec(joined.slice(start, start + 60))?.[1] : undefined;
        if (named !== undefined && !plainShortcode.test(named)) made.add(`\`${named}\``);
        // The build creates headings from an API description.
        if (dialect.templates && apiTag.test(joined.slice(start, start + 40))) facts.ids.push(unknownId);
        const id = hasAttributes ? idInAttributes(joined.slice(start, end).replace(/^\{:?|\}$/g, "")) : null;
        if (id !== null) facts.ids.push(decode(id));
        else readInclude(joined, start, end, (kind, from, to) => addLink(kind, at(from), at(to)));
      },
      ...(dialect.includes === "myst" ? { code } : {}),
    };

    /** Sphinx roles are code with a name before it. */
    function code(start: number, end: number): void {
      const role = /\{(?:doc|ref|numref|any)\}`$/.exec(joined.slice(Math.max(0, start - 9), start))?.[0];
      if (role !== undefined) addLink("link", at(start - role.length), at(end) + 1);
    }
  }

  const pageSink = sinkFor(text, (offset) => offset);

  function scan(block: TextBlock): void {
    const joined = block.lines === null ? text : joinLines(text, block.lines);
    const from = block.lines === null ? block.start : 0;
    const to = block.lines === null ? block.end : joined.length;
    const sink = block.lines === null ? pageSink : sinkFor(joined, createOffsetMap(block.lines));
    if (block.kind === "text") scanInline(joined, from, to, dialect, labels, sink, block.lines === null ? marks : null);
    else scanMarkup(joined, from, to, dialect, sink);
  }

  if (dialect.frontMatterLinks && facts.frontMatter !== null) {
    const { start, end } = facts.frontMatter;
    for (const [from, to] of frontMatterLinks(text.slice(start, end))) addLink("href", start + from, start + to);
  }
  const slugger = createSlugger(dialect.slug);
  const [firstLevel, lastLevel] = dialect.idLevels;
  /** What ids are derived from, where it differs from the text. */
  const sources = new Map<Heading, string>();
  for (const block of blocks.headings) facts.headings.push(readHeading(block));
  // Explicit ids are reserved before ids are derived.
  for (const heading of facts.headings) if (heading.explicit) slugger.taken(heading.id);
  for (const heading of facts.headings) {
    if (heading.explicit || heading.level > lastLevel) continue;
    const id = slugger.next(sources.get(heading) ?? heading.text);
    // A title without a visible id still reserves one.
    if (heading.level >= firstLevel) heading.id = id;
  }

  function readHeading(block: HeadingBlock): Heading {
    const source = decode(block.lines === null ? text.slice(block.start, block.end) : joinLines(text, block.lines));
    const found = findHeadingId(source, dialect);
    const content = found === null ? source : source.slice(0, found.index);
    const tail = found === null ? 0 : encodePiece(source.slice(found.index)).length;
    const heading: Heading = {
      level: block.level,
      text: oneLine(headingText(content, dialect, headingLabels)),
      id: found?.id ?? "",
      start: block.start,
      end: block.end - tail,
      line: 0,
      column: 0,
    };
    if (found?.id) heading.explicit = true;
    // Mintlify's rule for what a component shows in a heading is not public.
    const shown = dialect.slug === "mintlify" && !found?.id ? /<([A-Z]\w*)/.exec(content)?.[1] : undefined;
    if (shown !== undefined) made.add(`\`<${shown}>\` in a heading`);
    if (dialect.slug === "astro" && content.includes("--"))
      sources.set(heading, oneLine(headingText(withLongDashes(content), dialect, headingLabels)));
    return heading;
  }

  for (const block of blocks.headings) scan(block);
  for (const block of blocks.texts) scan(block);
  if (blocks.definitions.length > 0) {
    const used = new Set([...text.matchAll(labelInText)].map(([, name = ""]) => normalizeLabel(name)));
    for (const { label, start, end } of blocks.definitions) {
      const link = addLink("definition", start, end);
      if (link !== null && !used.has(label)) link.isUnused = true;
    }
  }
  for (const { start, end } of blocks.modules) readModules(text, start, end, addLink, facts.ids);
  for (const label of blocks.footnotes.values()) append(facts.ids, footnoteIds(decode(label), dialect));
  if (dialect.colons && text.includes("<APITable")) append(facts.ids, apiTableIds(text));
  // Attribute lists of kramdown and Python-Markdown, on a heading or on the line below a block.
  if (text.includes("{:")) for (const [, id = ""] of text.matchAll(/\{:[^}\n#]{0,80}#([\w:.-]+)/g)) facts.ids.push(id);
  if (dialect.includes === "myst") append(facts.ids, mystIds(text));
  // mkdocstrings generates headings for declarations in the code.
  if (dialect.slug === "python" && /^::: [\w.]/m.test(text)) facts.ids.push(unknownId);
  // Macros of MkDocs.
  if (dialect.slug === "python" && /^\{\{[^}\n]*(?:\(|\}\}[ \t]*\r?$)/m.test(text)) made.add("a macro");
  // What Liquid puts on a line of its own may have headings.
  if (dialect.kramdown && /^[ \t]*\{\{[^}\n]*\}\}[ \t]*\r?$/m.test(text)) made.add("a template");
  if (dialect.slug === "vitepress" && /^<script setup/m.test(text)) made.add("`<script setup>`");
  for (const what of made) facts.ids.push(madeMark + what);
  // VitePress includes code from any file; the others include text.
  for (const { start, end } of blocks.snippets)
    addLink(dialect.includes === "vitepress" ? "src" : "include", start, end);
  if (blocks.openFence !== null) facts.openFence = { line: 0, column: blocks.openFence };
  facts.bareFences = blocks.bareFences.map((offset) => ({ line: 0, column: offset }));
  facts.links.sort((a, b) => a.start - b.start);
  facts.headings.sort((a, b) => a.start - b.start);
  return facts;
}

/** What may be a reference: a label in brackets that neither a colon nor a destination follows. */
const labelInText = /\[([^\][]{1,999})\](?![:(])/g;

const mystName = /^[ \t]*:name:[ \t]*(\S+)|^\{[^}\n]*#([\w:.-]+)/gm;
const mystObject =
  /\{(?:eval-rst|auto\w+|glossary|math|function|class|method|option|envvar|confval|(?:py|c|cpp|js|rst|std):\w+)\}/;

/**
 * Names of directives and ids of attribute lists, and unknown ids if other directives define more. A label, `(label)=`,
 * is not one: MyST finds it by `#label` or its bare name, not by `page.md#label`.
 */
function mystIds(text: string): string[] {
  const ids = [...text.matchAll(mystName)].map(([, name, own]) => decodePiece(name ?? own ?? ""));
  return mystObject.test(text) ? [...ids, unknownId] : ids;
}

const tableName = /<APITable\b[^>]*?(?:\bname="([^"]*)")?[^>]*>/g;
const firstCell = /^[ \t]*\|[ \t]*`([^`|\n]+)`/gm;

/**
 * Docusaurus's API tables make each row an anchor, from its first cell, prefixed with the table's name if it has one.
 */
function apiTableIds(text: string): string[] {
  const ids: string[] = [];
  const tables = [...text.matchAll(tableName)];
  for (const [i, table] of tables.entries()) {
    const rows = text.slice(table.index, tables[i + 1]?.index ?? text.length);
    for (const row of rows.matchAll(firstCell)) {
      ids.push(table[1] === undefined ? (row[1] as string) : `${table[1]}.${row[1]}`);
    }
  }
  return ids;
}

// Ids are short: only the end is searched, because the white space before an id has no length limit.
const lengthMax = 300;

const forms: Record<HeadingIdForm, { ending: string; expression: RegExp }> = {
  braces: { ending: "}", expression: /[ \t]*\{[ \t]*#([^\s{}]+)[ \t]*\}$/ },
  attributes: { ending: "}", expression: /[ \t]*\{:?[ \t]*([^\s{}%!/][^{}\n]*)\}$/ },
  comment: { ending: "}", expression: /[ \t]*\{\/\*[ \t]*#([^\s{}*]+)[ \t]*\*\/\}$/ },
  brackets: { ending: "]", expression: /[ \t]*\[#([^\s[\]]+)\]$/ },
  colon: { ending: "", expression: /[ \t]+:id=([\w%-]+)$/ },
};

/** The id in an attribute list: `#id .class key=value`. */
function idInAttributes(list: string): string | null {
  const found = /(?:^|\s)#([^\s.#="']+)|(?:^|\s)id=(?:"([^"]*)"|'([^']*)'|(\S+))/.exec(list);
  return found?.[1] ?? found?.[2] ?? found?.[3] ?? found?.[4] ?? null;
}

/**
 * The end of a heading's text and the id after it. Null if there is no such ending. The id is null if there are only
 * other attributes.
 */
function findHeadingId(source: string, { headingIds }: Dialect): { index: number; id: string | null } | null {
  const from = Math.max(0, source.length - lengthMax);
  for (const form of headingIds) {
    const { ending, expression } = forms[form];
    const found = source.endsWith(ending) ? expression.exec(source.slice(from)) : null;
    const written = found?.[1];
    if (found === null || written === undefined) continue;
    const index = from + found.index;
    if (form === "attributes") return { index, id: idInAttributes(written) };
    return { index, id: form === "colon" ? written.toLowerCase().replace(/^\d/, "_$&") : written };
  }
  return null;
}

type Add = (kind: LinkKind, start: number, end: number) => unknown;

const importStatement = /\bimport\s+(?:[\w$*{},\s]{1,1000}?\sfrom\s+)?(["'])([^"'\n]+)\1/g;

/** Local files that MDX imports. Packages are not checked, but text imported through bundler aliases has ids. */
function readModules(text: string, start: number, end: number, add: Add, ids: string[]): void {
  const source = text.slice(start, end);
  for (const found of source.matchAll(importStatement)) {
    const target = found[2] as string;
    if (!/^(?:\.{1,2}\/|\/|@site\/)/.test(target)) {
      if (/\.mdx?$/.test(target)) ids.push(unknownId);
      continue;
    }
    const from = start + found.index + found[0].length - 1 - target.length;
    add("include", from, from + target.length);
  }
}

const templateTarget = /^\{%-?\s*(?:(content-ref|embed|include|file)\s+)?(?:[^%"]*?\b(?:url|src)=)?"([^"]*)"/;

const includeComment = /^<!--\s*@include:\s*([^\s{}>]+?)(?=\s|\{|-->)/;

/** Cards and buttons of Hugo's themes: an address of the site. */
const shortcodeLink = /\s(?:link|href)="(\/[^"\s{}]*)"/g;

/** `{% content-ref url="page.md" %}`, `{{< card link="/page" >}}` and `<!-- @include: part.md -->`. */
function readInclude(text: string, start: number, end: number, add: Add): void {
  if (text.charCodeAt(start) === 60) {
    const comment = includeComment.exec(text.slice(start, Math.min(end, start + 500)));
    const path = comment?.[1]?.split("#")[0];
    if (comment === null || path === undefined || path === "") return;
    const at = start + comment[0].length - (comment[1] as string).length;
    add("include", at, at + path.length);
    return;
  }
  const template = text.slice(start, end);
  if (template.startsWith("{{<") || template.startsWith("{{%"))
    for (const { 0: whole, 1: target = "", index } of template.matchAll(shortcodeLink)) {
      const from = start + index + whole.length - 1 - target.length;
      add("href", from, from + target.length);
    }
  const found = templateTarget.exec(template);
  if (found?.[1] === undefined || found[1] === "embed") return;
  const target = found[2] as string;
  const from = start + found[0].length - 1 - target.length;
  add(found[1] === "content-ref" ? "href" : found[1] === "file" ? "src" : "include", from, from + target.length);
}
