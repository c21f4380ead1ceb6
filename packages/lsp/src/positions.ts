import type { Position, Range, TextEdit } from "vscode-languageserver/node";

/** A text with byte offsets, as sites use them, and lines with UTF-16 units, as editors use them. */
export interface TextMap {
  byteAt(position: Position): number;
  range(start: number, end: number): Range;
  /** A line without its line ending. */
  line(number: number): string;
  lines: number;
}

export function mapText(bytes: Uint8Array): TextMap {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Editors hide the byte order mark: their first column is after it.
  const first = buffer.length >= 3 && buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? 3 : 0;
  const starts = [first];
  for (let at = buffer.indexOf(10); at !== -1; at = buffer.indexOf(10, at + 1)) starts.push(at + 1);

  function lineOf(byte: number): number {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= byte) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function line(number: number): string {
    const start = starts[number];
    if (start === undefined) return "";
    return buffer.toString("utf8", start, starts[number + 1] ?? buffer.length).replace(/\r?\n$/, "");
  }

  function positionAt(byte: number): Position {
    const number = lineOf(byte);
    const start = starts[number] as number;
    return { line: number, character: byte <= start ? 0 : buffer.toString("utf8", start, byte).length };
  }

  return {
    byteAt({ line: number, character }) {
      const start = starts[number];
      return start === undefined ? buffer.length : start + Buffer.byteLength(line(number).slice(0, character));
    },
    range: (start, end) => ({ start: positionAt(start), end: positionAt(end) }),
    line,
    lines: starts.length,
  };
}

export function isWithin(range: Range, { line, character }: Position): boolean {
  const { start, end } = range;
  const isAfter = line > start.line || (line === start.line && character >= start.character);
  return isAfter && (line < end.line || (line === end.line && character <= end.character));
}

export function overlap(one: Range, other: Range): boolean {
  return isWithin(one, other.start) || isWithin(other, one.start);
}

/**
 * The edits between two texts, line by line if both have the same number of lines, so that an editor keeps its marks.
 */
export function diffTexts(before: Uint8Array, after: Uint8Array): TextEdit[] {
  const [old, now] = [splitLines(before), splitLines(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const changed = old.slice(head, old.length - tail);
  const made = now.slice(head, now.length - tail);
  const at = (line: number): Position =>
    line < old.length ? { line, character: 0 } : { line: old.length - 1, character: old.at(-1)?.length ?? 0 };
  if (changed.length !== made.length) {
    return [{ range: { start: at(head), end: at(head + changed.length) }, newText: made.join("") }];
  }
  return changed.flatMap((text, i) =>
    text === made[i] ? [] : [{ range: { start: at(head + i), end: at(head + i + 1) }, newText: made[i] as string }],
  );
}

/** Lines with their line endings. */
function splitLines(bytes: Uint8Array): string[] {
  return Buffer.from(bytes)
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .split(/(?<=\n)/)
    .concat([""])
    .filter((line, i, all) => line !== "" || i === all.length - 1);
}
