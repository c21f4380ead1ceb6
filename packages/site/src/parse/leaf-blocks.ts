import { append } from "../text/bytes.ts";
import { type Blocks, readDefinitions, type TextBlock } from "./blocks.ts";

function trimRange(text: string, from: number, to: number): { start: number; end: number } {
  let start = from;
  let end = to;
  while (start < end && text.charCodeAt(start) <= 32) start++;
  while (end > start && text.charCodeAt(end - 1) <= 32) end--;
  return { start, end };
}

/** The content of `## Title ##`, without the markers. */
export function headingContent(text: string, from: number, to: number): { start: number; end: number } {
  const { start, end } = trimRange(text, from, to);
  let i = end;
  while (i > start && text.charCodeAt(i - 1) === 35) i--;
  if (i === start && i < end) return { start, end: start };
  const before = text.charCodeAt(i - 1);
  if (i < end && (before === 32 || before === 9)) return trimRange(text, start, i);
  return { start, end };
}

function textBlock(lines: number[], isQuoted: boolean): TextBlock {
  const start = lines[0] as number;
  const end = lines[lines.length - 1] as number;
  return { kind: "text", start, end, lines: isQuoted && lines.length > 2 ? lines : null };
}

/** Maps an offset in the lines joined by line feeds to the file's offset. */
export function createOffsetMap(lines: readonly number[]): (offset: number) => number {
  const starts: number[] = [];
  let passed = 0;
  for (let i = 0; i < lines.length; i += 2) {
    starts.push(passed);
    passed += (lines[i + 1] as number) - (lines[i] as number) + 1;
  }
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    const inFile = (lines[low * 2] as number) + offset - (starts[low] as number);
    return Math.min(inFile, lines[low * 2 + 1] as number);
  };
}

export function joinLines(text: string, lines: readonly number[]): string {
  let joined = "";
  for (let i = 0; i < lines.length; i += 2) {
    joined += `${i === 0 ? "" : "\n"}${text.slice(lines[i], lines[i + 1])}`;
  }
  return joined;
}

export interface Paragraph {
  /** Start and end of each line. */
  lines: number[];
  /** The number of entries in `lines` before the first lazy continuation line. */
  firm: number;
  isQuoted: boolean;
}

/** Stores a finished paragraph: its definitions, then a heading (level > 0), a table's cells, or plain text. */
export function closeParagraph(
  blocks: Blocks,
  text: string,
  { lines, firm, isQuoted }: Paragraph,
  level: number,
): void {
  let rest = lines;
  if (text.charCodeAt(lines[0] as number) === 91) {
    const joined = joinLines(text, lines);
    const { definitions, after } = readDefinitions(joined);
    const inFile = createOffsetMap(lines);
    for (const { label, start, end } of definitions) {
      blocks.definitions.push({ label, start: inFile(start), end: inFile(end) });
    }
    if (after >= joined.length) return;
    if (after > 0) {
      const from = inFile(after);
      rest = lines.slice(lines.findIndex((offset, i) => i % 2 === 1 && offset >= from) - 1);
      rest[0] = Math.max(from, rest[0] as number);
    }
  }
  if (level > 0) {
    const { start, end } = textBlock(rest, isQuoted);
    blocks.headings.push({ level, ...textBlock(rest, isQuoted), ...trimRange(text, start, end) });
    return;
  }
  const cells = rest.length > 2 ? tableCells(text, rest, firm - (lines.length - rest.length)) : null;
  if (cells === null) {
    blocks.texts.push(textBlock(rest, isQuoted));
    return;
  }
  if (cells.before.length > 0) blocks.texts.push(textBlock(cells.before, isQuoted));
  for (const cell of cells.cells) blocks.texts.push({ kind: "text", ...cell, lines: null });
}

const delimiterRow = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

interface Range {
  start: number;
  end: number;
}

/** The cells of one row, split at unescaped pipes. */
function splitRow(text: string, from: number, to: number): Range[] {
  const cells: Range[] = [];
  let start = from;
  let isFirst = true;
  for (let i = from; i < to; i++) {
    const c = text.charCodeAt(i);
    if (c === 92) i++;
    else if (c === 124) {
      const isOuter = isFirst && text.slice(start, i).trim() === "";
      if (!isOuter) cells.push({ start, end: i });
      isFirst = false;
      start = i + 1;
    }
  }
  if (text.slice(start, to).trim() !== "") cells.push({ start, end: to });
  return cells;
}

/**
 * The cells of a GFM table among a paragraph's lines, and the lines before it. Null if there is none. From `firm` on,
 * lines are lazy continuations (`- a` and then `b`): no table starts there.
 */
function tableCells(text: string, lines: readonly number[], firm: number): { before: number[]; cells: Range[] } | null {
  for (let i = 2; i < Math.min(lines.length, firm); i += 2) {
    const first = text.charCodeAt(lines[i] as number);
    if (first !== 124 && first !== 45 && first !== 58) continue;
    const row = text.slice(lines[i], lines[i + 1]);
    if (!delimiterRow.test(row)) continue;
    const header = splitRow(text, lines[i - 2] as number, lines[i - 1] as number);
    if (header.length !== splitRow(text, lines[i] as number, lines[i + 1] as number).length) continue;
    if (!row.includes("|") && !text.slice(lines[i - 2], lines[i - 1]).includes("|")) continue;
    const cells = [...header];
    for (let j = i + 2; j < lines.length; j += 2) {
      append(cells, splitRow(text, lines[j] as number, lines[j + 1] as number));
    }
    return { before: lines.slice(0, i - 2), cells };
  }
  return null;
}

// A longer paragraph is not a table: testing each of its lines again would take quadratic time.
const offsetsMax = 2000;

export function isTable(text: string, lines: readonly number[], firm: number): boolean {
  return lines.length > 2 && lines.length < offsetsMax && tableCells(text, lines, firm) !== null;
}
