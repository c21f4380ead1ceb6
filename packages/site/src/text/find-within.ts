/**
 * Where a mark stands between two offsets, or -1. A plain `indexOf` would look through the rest of the page for a mark that
 * is not there, once for each of the thousand paragraphs that open and never close it.
 */
export function findWithin(text: string, mark: string, from: number, end: number): number {
  const found = text.slice(from, end).indexOf(mark);
  return found === -1 ? -1 : from + found;
}
