import type { TextBlock } from "../parse/blocks.ts";
import { decodeEntities } from "../parse/destination.ts";
import type { Dialect } from "../parse/dialect.ts";
import { readFrontMatter } from "../parse/front-matter.ts";
import { createOffsetMap, joinLines } from "../parse/leaf-blocks.ts";
import type { Range } from "../parse/prose.ts";
import { scanBlocks } from "../parse/scan-blocks.ts";
import { scanMarkup } from "../parse/scan-flow.ts";
import { type InlineSink, scanInline } from "../parse/scan-inline.ts";
import { textStart } from "../text/bytes.ts";

type PassageKind = "heading" | "paragraph" | "list" | "blockquote" | "header" | "cell" | "alt" | "title";

/** A piece of a page as readers see it: no code, targets, attributes or markup. */
export interface Passage {
  kind: PassageKind;
  /** The heading level. 0 if it is not a heading. */
  level: number;
  /** Code in it is replaced by asterisks of the same length. */
  text: string;
  /** Maps a character index of the text to a byte offset in the file. */
  at(index: number): number;
}

const titleField = /^title[ \t]*[:=][ \t]*(["']?)(.+?)\1[ \t]*$/m;
/** The start of an admonition: `:::tip`, `!!! note`, `[!NOTE]`. Only the text after it is visible. */
const boxStart = /^(?::{3,}[ \t]*\{?[\w-]*\}?|(?:!!!|\?\?\?\+?)[ \t]+[\w-]*|\[![A-Za-z]+\])/;
const entity = /^&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/i;
const wordCharacter = /[\p{L}\p{N}]/u;
const codeTags = new Set(["code", "kbd", "samp", "tt", "pre", "var"]);
const inlineTag =
  /^<\/?(?:a|abbr|b|big|cite|code|del|dfn|em|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var)\b/i;
const address = /^(?:https?:\/\/|www\.)/;
const escapable = /[!-/:-@[-`{-~]/;

/** The visible text of a page, block by block. */
export function readPassages(text: string, dialect: Dialect): Passage[] {
  const front = readFrontMatter(text, textStart(text));
  const passages: Passage[] = [];
  const title = front === null ? null : titleField.exec(text.slice(front.start, front.end));
  if (front !== null && title !== null) {
    const start = front.start + title.index + title[0].indexOf(title[2] as string);
    const piece = { start, end: start + (title[2] as string).length };
    passages.push(...assemble("title", 0, text, [piece], [], (offset) => offset));
  }
  const blocks = scanBlocks(text, front?.bodyStart ?? textStart(text), dialect);
  const labels = new Set(blocks.definitions.map((definition) => definition.label));

  function scan(block: TextBlock, kind: PassageKind, level: number): void {
    const joined = block.lines === null ? text : joinLines(text, block.lines);
    const inFile = block.lines === null ? (offset: number) => offset : createOffsetMap(block.lines);
    const [from, to] = block.lines === null ? [block.start, block.end] : [0, joined.length];
    const prose: Piece[] = [];
    const code: Piece[] = [];
    const links: Range[] = [];
    const alts: Range[] = [];
    // The start of an unclosed `<code>`.
    let opened = -1;
    const sink: InlineSink = {
      link(isImage, start, end) {
        if (isImage) alts.push({ start, end });
        else links.push({ start, end });
      },
      tag(tag) {
        if (!codeTags.has(tag.name.toLowerCase())) return;
        if (tag.closing && opened !== -1) for (const range of prose) range.isCode ||= range.start >= opened;
        opened = tag.closing ? -1 : tag.end;
      },
      template: () => undefined,
      prose: (start, end) => prose.push({ start, end }),
      code: (start, end) => code.push({ start, end, isCode: true }),
    };
    const box = boxStart.exec(joined.slice(from, Math.min(to, from + 60)));
    const begin = box === null ? from : from + box[0].length;
    if (block.kind === "text") scanInline(joined, begin, to, dialect, labels, sink);
    else scanMarkup(joined, from, to, dialect, sink);
    const shown = [...prose, ...code].sort((a, b) => a.start - b.start);
    const pieces = alts.length === 0 ? shown : shown.flatMap((range) => without(range, alts));
    passages.push(...assemble(kind, level, joined, pieces, links, inFile));
    for (const alt of alts) passages.push(...assemble("alt", 0, joined, [alt], [], inFile));
  }

  for (const block of blocks.headings) scan(block, "heading", block.level);
  for (const block of blocks.texts) scan(block, kindOf(text, block), 0);
  return passages.sort((a, b) => a.at(0) - b.at(0));
}

interface Piece extends Range {
  isCode?: boolean;
}

/** A range without the texts of images and the mark before them. */
function without(range: Piece, alts: readonly Range[]): Piece[] {
  const left: Piece[] = [];
  let { start } = range;
  for (const alt of alts) {
    if (alt.end <= start || alt.start - 2 >= range.end) continue;
    if (alt.start - 2 > start) left.push({ ...range, start, end: alt.start - 2 });
    start = Math.max(start, alt.end);
  }
  if (start < range.end) left.push({ ...range, start });
  return left;
}

function assemble(
  kind: PassageKind,
  level: number,
  source: string,
  pieces: readonly Piece[],
  links: readonly Range[],
  inFile: (offset: number) => number,
): Passage[] {
  const opening = new Set(links.map(({ start }) => start - 1));
  const offsets: number[] = [];
  let text = "";
  const add = (shown: string, offset: number): void => {
    text += shown;
    for (let i = 0; i < shown.length; i++) offsets.push(offset);
  };
  let last = -1;
  for (const { start, end, isCode } of pieces) {
    // A tag or an expression was in between: the words on both sides are separate.
    if (
      last !== -1 &&
      start > last &&
      /[<{]/.test(source.charAt(last)) &&
      !inlineTag.test(source.slice(last, last + 12))
    )
      add(" ", last);
    last = end;
    // The text of a reference: `[text][label]`.
    if (source.charAt(end) === "]" && !links.some((link) => link.end === end)) {
      const bracket = source.lastIndexOf("[", end);
      if (bracket >= start) opening.add(bracket);
    }
    if (isCode === true) {
      for (let i = start; i < end; i++) add("*", i);
      continue;
    }
    for (let i = start; i < end; ) {
      const c = source.charCodeAt(i);
      if ((c === 104 || c === 119) && address.test(source.slice(i, i + 8))) {
        // A bare URL is not prose either.
        let after = i;
        while (after < end && source.charCodeAt(after) > 32) after++;
        for (; i < after; i++) add("*", i);
      } else if (c === 92 && escapable.test(source.charAt(i + 1))) {
        add(source.charAt(i + 1), i + 1);
        i += 2;
      } else if (c === 42 || c === 95 || c === 126) {
        let after = i;
        while (after < end && source.charCodeAt(after) === c) after++;
        if (!isMark(source, i, after, c)) for (let j = i; j < after; j++) add(source.charAt(j), j);
        i = after;
      } else if (opening.has(i)) i++;
      else if (c === 38) {
        const found = entity.exec(source.slice(i, Math.min(end, i + 40)));
        add(found === null ? "&" : decodeEntities(found[0]), i);
        i += found?.[0].length ?? 1;
      } else if (c < 128) {
        add(source.charAt(i), i);
        i++;
      } else {
        // A UTF-8 sequence: decoded character by character, so that each keeps its position.
        const width = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        add(Buffer.from(source.slice(i, i + width), "latin1").toString("utf8"), i);
        i += width;
      }
    }
  }
  if (text.trim() === "") return [];
  return [{ kind, level, text, at: (index) => inFile(offsets[Math.min(index, offsets.length - 1)] as number) }];
}

/** Whether a run of `*`, `_` or `~` marks emphasis: it touches a word, and an underscore is not inside one. */
function isMark(source: string, start: number, end: number, c: number): boolean {
  const before = source.charAt(start - 1);
  const after = source.charAt(end);
  if (c === 95 && wordCharacter.test(before) && wordCharacter.test(after)) return false;
  if (c === 126 && end - start < 2) return false;
  return (before !== "" && !/\s/.test(before)) || (after !== "" && !/\s/.test(after));
}

const listItem = /^[\s>]*(?:[-+*]|\d{1,9}[.)])\s/;

/** Decided by the line that it starts on: the scanner keeps no containers. */
function kindOf(text: string, { start, end, kind }: TextBlock): PassageKind {
  if (kind === "markup") return "paragraph";
  let lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const prefix = text.slice(lineStart, start);
  const rest = text.slice(end, (text.indexOf("\n", end) + 1 || text.length + 1) - 1);
  if (/\|\s*$/.test(prefix) || (/^\s*\|/.test(rest) && !prefix.trim().endsWith(">"))) {
    const after = text.indexOf("\n", end) + 1;
    const next = after === 0 ? "" : text.slice(after, (text.indexOf("\n", after) + 1 || text.length + 1) - 1);
    return /^[\s>]*\|?[\s:|-]*-[\s:|-]*$/.test(next) ? "header" : "cell";
  }
  if (listItem.test(`${prefix} `.slice(0, -1))) return "list";
  const indent = prefix.length - prefix.trimStart().length;
  // A further paragraph of a list item is indented below its marker.
  for (let looked = 0; indent >= 2 && lineStart > 0 && looked < 200; looked++) {
    const before = text.lastIndexOf("\n", lineStart - 2) + 1;
    const line = text.slice(before, lineStart);
    lineStart = before;
    if (line.trim() === "") continue;
    if (line.length - line.trimStart().length >= indent) continue;
    if (listItem.test(line)) return "list";
    break;
  }
  return prefix.includes(">") ? "blockquote" : "paragraph";
}
