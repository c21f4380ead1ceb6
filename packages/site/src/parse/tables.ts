import { append } from "../text/bytes.ts";

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
export function tableCells(
  text: string,
  lines: readonly number[],
  firm: number,
): { before: number[]; cells: Range[] } | null {
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
