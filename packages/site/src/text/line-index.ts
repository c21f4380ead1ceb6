import { decodePiece } from "./bytes.ts";

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
