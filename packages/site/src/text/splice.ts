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
