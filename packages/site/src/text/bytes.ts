// Pages are held as "byte strings": one character a byte (latin1). Everything that Markdown cares about is ASCII, so
// offsets are byte offsets, bytes that are not valid UTF-8 survive every edit, and V8 keeps the text in one byte a character.

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

/** A piece of a byte string as ordinary text. */
export function decodePiece(piece: string): string {
  return highByte.test(piece) ? Buffer.from(piece, "latin1").toString("utf8") : piece;
}

const beyondAscii = /[^\0-\x7f]/;

/** Ordinary text as a piece of a byte string. */
export function encodePiece(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
}

const byteOrderMark = "\xef\xbb\xbf";

/** Where the text begins: after a byte order mark, if there is one. */
export function textStart(text: string): number {
  return text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
}

/** A replacement of a byte range, in byte strings. */
export interface Splice {
  start: number;
  end: number;
  text: string;
}

/** Applies splices to a byte string. They must not overlap; of two insertions at one place the first comes first. */
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

/** How the file breaks its lines. */
export function newlineOf(text: string): string {
  const first = text.indexOf("\n");
  return first > 0 && text.charCodeAt(first - 1) === 13 ? "\r\n" : "\n";
}

/** The white space that the line of an offset begins with. */
export function indentOf(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  let end = start;
  while (text.charCodeAt(end) === 32 || text.charCodeAt(end) === 9) end++;
  return text.slice(start, end);
}

/** Adds to the end of a list. `push(...more)` puts them all on the stack first, which a page with 100,000 of them overflows. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one);
}

/**
 * Where a mark stands between two offsets, or -1. A plain `indexOf` would look through the rest of the page for a mark that
 * is not there, once for each of the thousand paragraphs that open and never close it.
 */
export function findWithin(text: string, mark: string, from: number, end: number): number {
  const found = text.slice(from, end).indexOf(mark);
  return found === -1 ? -1 : from + found;
}
