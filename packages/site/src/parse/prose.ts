import { append, textStart } from "../text/bytes.ts";
import type { TextBlock } from "./blocks.ts";
import type { Dialect } from "./dialect.ts";
import { readFrontMatter } from "./front-matter.ts";
import { createOffsetMap, joinLines } from "./leaf-blocks.ts";
import { scanBlocks } from "./scan-blocks.ts";
import { scanMarkup } from "./scan-flow.ts";
import { type InlineSink, scanInline } from "./scan-inline.ts";

export interface Range {
  start: number;
  end: number;
}

export interface Prose {
  /** Visible text: paragraphs, headings, link texts, and titles in front matter and components. */
  prose: Range[];
  code: Range[];
  targets: Range[];
  frontMatterKeys: Range[];
  /** The end of the front matter. 0 if there is none. */
  bodyStart: number;
}

// Visible attributes and fields.
const readAttributes = new Set(["title", "description", "label", "alt", "caption", "summary", "tip", "headline"]);
const readFields = new Set([
  "title",
  "description",
  "sidebarTitle",
  "sidebar_label",
  "summary",
  "subtitle",
  "tagline",
  "excerpt",
]);
const field = /^([A-Za-z_][\w-]*)([ \t]*[:=][ \t]*)(.*)$/gm;

/** The byte ranges of a page, by their role for a reader. */
export function readProse(text: string, dialect: Dialect): Prose {
  const front = readFrontMatter(text, textStart(text));
  const bodyStart = front?.bodyStart ?? 0;
  const found: Prose = { prose: [], code: [], targets: [], frontMatterKeys: [], bodyStart };
  if (front !== null) {
    for (const match of text.slice(front.start, front.end).matchAll(field)) {
      const start = front.start + match.index;
      const [, name = "", gap = "", value = ""] = match;
      found.frontMatterKeys.push({ start, end: start + name.length });
      const valueStart = start + name.length + gap.length;
      if (readFields.has(name)) found.prose.push({ start: valueStart, end: valueStart + value.trimEnd().length });
    }
  }
  const blocks = scanBlocks(text, front?.bodyStart ?? textStart(text), dialect);
  const labels = new Set(blocks.definitions.map((definition) => definition.label));
  append(found.code, blocks.code);
  for (const { start, end } of blocks.definitions) found.targets.push({ start, end });

  function scan(block: TextBlock): void {
    const lines = block.lines;
    const joined = lines === null ? text : joinLines(text, lines);
    const inFile = lines === null ? null : createOffsetMap(lines);
    const add = (into: Range[]) => (start: number, end: number) => {
      if (inFile === null) into.push({ start, end });
      // Quote markers are between the lines, so each line is its own range.
      else
        for (const [from, to] of linesBetween(joined, start, end)) into.push({ start: inFile(from), end: inFile(to) });
    };
    const sink: InlineSink = {
      link: (_isImage, _textStart, _textEnd, start, end) => add(found.targets)(start, end),
      tag(tag) {
        for (const { name, value } of tag.attributes) {
          if (value === null) continue;
          if (readAttributes.has(name)) add(found.prose)(value.start, value.end);
          else if (name === "href" || name === "src" || name === "to") add(found.targets)(value.start, value.end);
        }
      },
      template: () => undefined,
      prose: add(found.prose),
      code: add(found.code),
    };
    const [from, to] = lines === null ? [block.start, block.end] : [0, joined.length];
    if (block.kind === "text") scanInline(joined, from, to, dialect, labels, sink);
    else scanMarkup(joined, from, to, dialect, sink);
  }

  for (const block of blocks.headings) scan(block);
  for (const block of blocks.texts) scan(block);
  found.prose.sort((a, b) => a.start - b.start);
  return found;
}

function* linesBetween(text: string, start: number, end: number): Generator<[number, number]> {
  let from = start;
  while (from < end) {
    const newline = text.indexOf("\n", from);
    const to = newline === -1 || newline > end ? end : newline;
    if (to > from) yield [from, to];
    from = to + 1;
  }
}
