interface ExcerptLine {
  kind: "file" | "added" | "removed";
  text: string;
  /** Where a removed line and the one that replaced it begin to differ: what a narrow terminal must not cut away. */
  differsAt: number;
}

interface Excerpt {
  lines: readonly ExcerptLine[];
  isWhole: boolean;
}

const linesMax = 16;
const linesOfFileMax = 4;

/** The first changed lines of a unified diff, a few of each file: enough to see what kind of change it is. */
export function diffExcerpt(diff: string): Excerpt {
  const lines: ExcerptLine[] = [];
  let isWhole = true;
  for (const file of diff.split(/^diff --git /m).slice(1)) {
    const [head = "", ...hunks] = file.split(/^@@ .*$/m);
    const changed = hunks.flatMap((hunk) => hunk.split("\n").slice(1)).filter((line) => /^[+-]./.test(line));
    const shown = changed.slice(0, linesOfFileMax);
    if (shown.length < changed.length) isWhole = false;
    if (shown.length === 0) continue;
    if (lines.length + 1 + shown.length > linesMax) return { lines, isWhole: false };
    lines.push({ kind: "file", text: newName(head), differsAt: 0 }, ...shown.map(toLine));
  }
  return { lines, isWhole };
}

function toLine(text: string, index: number, lines: readonly string[]): ExcerptLine {
  const isAdded = text.startsWith("+");
  const other = lines[isAdded ? index - 1 : index + 1];
  const isPair = other !== undefined && other.startsWith("+") !== isAdded;
  return { kind: isAdded ? "added" : "removed", text, differsAt: isPair ? firstDifference(text, other) : 0 };
}

/** Behind the sign. */
function firstDifference(a: string, b: string): number {
  let at = 1;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

function newName(head: string): string {
  return /^\+\+\+ "?b\/(.*?)"?\t?$/m.exec(head)?.[1] ?? /^--- "?a\/(.*?)"?\t?$/m.exec(head)?.[1] ?? "";
}
