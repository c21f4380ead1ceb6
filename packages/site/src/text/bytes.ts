// Pages are held as "byte strings" with one character per byte (latin1). Markdown syntax is ASCII, so offsets are byte
// offsets. Bytes that are not valid UTF-8 survive every edit, and V8 stores one byte per character.

export function toByteString(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

export function fromByteString(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

const highByte = /[\x80-\xff]/;

export function isAsciiText(text: string): boolean {
  return !highByte.test(text);
}

/** Decodes a piece of a byte string to ordinary text. */
export function decodePiece(piece: string): string {
  return highByte.test(piece) ? Buffer.from(piece, "latin1").toString("utf8") : piece;
}

const beyondAscii = /[^\0-\x7f]/;

/** Encodes ordinary text as a piece of a byte string. */
export function encodePiece(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
}

const byteOrderMark = "\xef\xbb\xbf";

/** The start of the text, after a byte order mark if there is one. */
export function textStart(text: string): number {
  return text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
}

/** A replacement of a byte range, in byte strings. */
export interface Splice {
  start: number;
  end: number;
  text: string;
}

/** Applies splices to a byte string. They must not overlap. Insertions at the same offset keep their order. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const ordered = splices.map((splice, order) => ({ splice, order }));
  ordered.sort((a, b) => a.splice.start - b.splice.start || a.order - b.order);
  let out = "";
  let at = 0;
  for (const { splice } of ordered) {
    if (splice.start < at) continue;
    out += text.slice(at, splice.start) + splice.text;
    at = splice.end;
  }
  return out + text.slice(at);
}

/** The file's line ending. */
export function newlineOf(text: string): string {
  const first = text.indexOf("\n");
  return first > 0 && text.charCodeAt(first - 1) === 13 ? "\r\n" : "\n";
}

/** The indentation of an offset's line. */
export function indentOf(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  let end = start;
  while (text.charCodeAt(end) === 32 || text.charCodeAt(end) === 9) end++;
  return text.slice(start, end);
}

/** Appends to a list. `push(...more)` would overflow the stack with 100,000 items. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one);
}

/**
 * The index of a mark between two offsets, or -1. A plain `indexOf` would search the rest of the page for a missing
 * mark, once for each of a thousand paragraphs that open it and never close it.
 */
export function findWithin(text: string, mark: string, from: number, end: number): number {
  const found = text.slice(from, end).indexOf(mark);
  return found === -1 ? -1 : from + found;
}

export interface Place {
  line: number;
  column: number;
}

export interface LineIndex {
  place(offset: number): Place;
  /** The line that contains the offset, from 0. */
  lineOf(offset: number): number;
  startOf(line: number): number;
}

/** Converts byte offsets to lines and columns (from 1, in UTF-16 units). */
export function indexLines(text: string, isAscii = false): LineIndex {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);

  function lineOf(offset: number): number {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function place(offset: number): Place {
    const line = lineOf(offset);
    const start = starts[line] as number;
    const width = isAscii ? offset - start : decodePiece(text.slice(start, offset)).length;
    return { line: line + 1, column: width + 1 };
  }

  return { place, lineOf, startOf: (line) => starts[line] ?? text.length };
}
