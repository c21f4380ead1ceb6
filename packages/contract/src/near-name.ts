/** What models and people often write for a name of ours. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  pattern: ["query", "regex", "search", "term", "text"],
  path: ["file", "filename", "filepath", "page"],
  paths: ["files"],
  page: ["path", "file"],
  dir: ["path", "folder", "directory"],
  oldText: ["oldstring", "old", "search", "find"],
  newText: ["newstring", "new", "replace", "replacement"],
  content: ["contents", "body", "text"],
  prompt: ["instruction", "instructions", "message", "input", "task", "text", "query"],
  baseRef: ["base", "branch", "ref"],
  base: ["baseref", "branch", "ref"],
  id: ["job", "jobid", "claim", "claimid", "gate", "gateid", "automation", "automationid"],
  project: ["projectid"],
  wait_seconds: ["wait", "timeout", "waitseconds"],
  limit: ["count", "max"],
};

/** The known name that this one was probably meant to be. */
export function nearName(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, "");
  return (
    known.find((one) => plain(one) === plain(name) || otherNames[one]?.includes(plain(name))) ??
    known.find((one) => Math.min(one.length, name.length) > 3 && editDistance(plain(one), plain(name)) === 1)
  );
}

/** "; did you mean `pattern`?", or the names that there are. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearName(name, known);
  if (near !== undefined) return `; did you mean \`${near}\`?`;
  return known.length === 0 ? "" : `; there is ${known.map((one) => `\`${one}\``).join(", ")}`;
}

/** The edit distance with transpositions (Damerau–Levenshtein). */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      const isSwap = i > 0 && j > 0 && letter === b[j - 1] && other === a[i - 1];
      const swapped = isSwap ? (before[j - 1] ?? 0) + 1 : changed;
      next.push(Math.min(changed, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
