export interface ExcerptLine {
  kind: "file" | "added" | "removed";
  text: string;
}

const linesMax = 16;
const linesOfFileMax = 4;

/** The first changed lines of a unified diff, a few of each file: enough to see what kind of change it is. */
export function diffExcerpt(diff: string): readonly ExcerptLine[] {
  const excerpt: ExcerptLine[] = [];
  for (const file of diff.split(/^diff --git /m).slice(1)) {
    const [head = "", ...hunks] = file.split(/^@@ .*$/m);
    const changed = hunks
      .flatMap((hunk) => hunk.split("\n").slice(1))
      .filter((line) => /^[+-]./.test(line))
      .slice(0, linesOfFileMax)
      .map((line): ExcerptLine => ({ kind: line.startsWith("+") ? "added" : "removed", text: line }));
    if (changed.length === 0) continue;
    if (excerpt.length + 1 + changed.length > linesMax) break;
    excerpt.push({ kind: "file", text: newName(head) }, ...changed);
  }
  return excerpt;
}

function newName(head: string): string {
  return /^\+\+\+ "?b\/(.*?)"?\t?$/m.exec(head)?.[1] ?? /^--- "?a\/(.*?)"?\t?$/m.exec(head)?.[1] ?? "";
}
