import { createPatchReader } from "@emend/contract";

/** People replaced a few words of a line that a job had proposed. */
export interface Lesson {
  path: string;
  replaced: string;
  by: string;
  /** The word behind it, in both texts. Empty: the line ends there. */
  next: string;
}

/** Of a longer passage no rule can be made. */
const wordsMax = 4;
/** A line that shares less with the proposed one is another line. */
const sharedMin = 0.6;
const lineWordsMin = 4;
const linesMax = 2_000;

/**
 * Compares the lines that a job's patch adds with the pages after its merge. A line that is there as proposed was
 * accepted, and one without a similar line may be gone for any reason: neither teaches anything.
 */
export async function findLessons(
  patch: string,
  readPage: (path: string) => Promise<string | null>,
): Promise<readonly Lesson[]> {
  const lessons: Lesson[] = [];
  for (const [path, proposed] of addedLines(patch)) {
    const page = /\.(?:mdx?|markdown|rst|adoc|txt)$/i.test(path) ? await readPage(path) : null;
    if (page === null) continue;
    const lines = page.split("\n").slice(0, linesMax);
    const now = new Set(lines);
    const others = lines.filter((line) => !proposed.has(line)).map((line) => wordsOf(line));
    for (const line of proposed) {
      const words = wordsOf(line);
      if (now.has(line) || words.length < lineWordsMin) continue;
      const nearest = others
        .map((other) => ({ other, shared: sharedOf(words, other) }))
        .sort((a, b) => b.shared - a.shared)[0];
      if (!nearest || nearest.shared < sharedMin) continue;
      const lesson = replacementOf(words, nearest.other);
      if (lesson) lessons.push({ path, ...lesson });
    }
  }
  return lessons;
}

function addedLines(patch: string): ReadonlyMap<string, ReadonlySet<string>> {
  const files = new Map<string, Set<string>>();
  const reader = createPatchReader((file, line) => {
    if (line.kind !== "added" || line.text.trim() === "") return;
    const lines = files.get(file.path) ?? new Set();
    files.set(file.path, lines);
    if (lines.size < linesMax) lines.add(line.text);
  });
  reader.read(patch.endsWith("\n") ? patch : `${patch}\n`);
  reader.end();
  return files;
}

/** Without punctuation at their ends. */
function wordsOf(line: string): readonly string[] {
  return line
    .split(/\s+/)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""))
    .filter((word) => word !== "");
}

function sharedOf(one: readonly string[], other: readonly string[]): number {
  const left = [...other];
  const shared = one.filter((word) => {
    const at = left.indexOf(word);
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  });
  return (2 * shared.length) / (one.length + other.length);
}

/** The one place where they differ. Null: there are several, or it is no matter of words. */
export function replacementOf(before: readonly string[], after: readonly string[]): Omit<Lesson, "path"> | null {
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const replaced = before.slice(start, before.length - end);
  const by = after.slice(start, after.length - end);
  const isWording = (words: readonly string[]) =>
    words.length > 0 && words.length <= wordsMax && words.every((word) => /^\p{L}[\p{L}\p{M}'’-]*$/u.test(word));
  if (!isWording(replaced) || !isWording(by)) return null;
  // Only where a sentence begins.
  const same = (text: string) => text.toLowerCase();
  const [from, to] = [replaced.join(" "), by.join(" ")];
  return same(from) === same(to) ? null : { replaced: from, by: to, next: end === 0 ? "" : (before.at(-end) ?? "") };
}
