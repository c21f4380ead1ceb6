export interface Span {
  text: string;
  isChanged: boolean;
}

/** More of one line is not drawn: past this a page draws its beginning, without marks. */
export const lineCharactersMax = 2_000;
const tokensMax = 240;
/** Below this share of common words two lines are different lines, and marks inside them only distract. */
const commonShareMin = 0.35;

/** Which words of a changed line changed; null where the lines have too little in common to say. */
export function diffWords(before: string, after: string): { before: readonly Span[]; after: readonly Span[] } | null {
  if (Math.max(before.length, after.length) > lineCharactersMax) return null;
  const old = tokenize(before);
  const young = tokenize(after);
  if (old.length > tokensMax || young.length > tokensMax) return null;
  const common = longestCommonTokens(old, young);
  const commonLength = common.reduce((sum, pair) => sum + (old[pair.old] ?? "").length, 0);
  if (commonLength < commonShareMin * Math.max(before.length, after.length)) return null;
  return {
    before: toSpans(old, new Set(common.map((pair) => pair.old))),
    after: toSpans(young, new Set(common.map((pair) => pair.young))),
  };
}

function tokenize(line: string): readonly string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function longestCommonTokens(old: readonly string[], young: readonly string[]): Array<{ old: number; young: number }> {
  const width = young.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = young.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        old[row] === young[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: Array<{ old: number; young: number }> = [];
  let row = 0;
  let column = 0;
  while (row < old.length && column < young.length) {
    if (old[row] === young[column]) pairs.push({ old: row++, young: column++ });
    else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}

/** A space between two changed words counts as changed: one mark reads better than two. */
function toSpans(tokens: readonly string[], kept: ReadonlySet<number>): readonly Span[] {
  const isKept = (index: number) => kept.has(index) || index < 0 || index >= tokens.length;
  const spans: Span[] = [];
  tokens.forEach((text, index) => {
    const isBetween = /^\s+$/.test(text) && !isKept(index - 1) && !isKept(index + 1);
    const isChanged = !kept.has(index) || isBetween;
    const last = spans.at(-1);
    if (last && last.isChanged === isChanged) last.text += text;
    else spans.push({ text, isChanged });
  });
  return spans;
}
