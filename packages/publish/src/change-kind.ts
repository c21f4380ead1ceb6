/**
 * Kinds of changes that a project can have merged without a person. Code decides by the texts alone; what cannot be
 * decided has no kind.
 */
type ChangeKind = "links" | "typos";

interface ChangedText {
  path: string;
  /** Null: the file is new. */
  before: string | null;
  /** Null: the file is deleted. */
  after: string | null;
}

export const kindFilesMax = 20;
const linesMax = 50;
const page = /\.(?:md|mdx|markdown)$/i;

export function changeKindOf(files: readonly ChangedText[]): ChangeKind | null {
  if (files.length === 0 || files.length > kindFilesMax) return null;
  const pairs: LinePair[] = [];
  for (const file of files) {
    const found = changedLines(file);
    if (!found) return null;
    pairs.push(...found);
  }
  if (pairs.length === 0 || pairs.length > linesMax) return null;
  if (pairs.every(isLinkFix)) return "links";
  const texts = files.map(({ after }) => after ?? "");
  return pairs.every((pair) => isTypo(pair, texts)) ? "typos" : null;
}

interface LinePair {
  before: string;
  after: string;
}

/** Null: more than the words of some lines changed, or code and settings did. */
function changedLines({ path, before, after }: ChangedText): readonly LinePair[] | null {
  if (!page.test(path) || before === null || after === null) return null;
  const [old, now] = [before.split("\n"), after.split("\n")];
  if (old.length !== now.length) return null;
  const pairs: LinePair[] = [];
  let fence: string | null = null;
  let isFrontMatter = /^---\s*$/.test(old[0] ?? "");
  for (const [index, line] of old.entries()) {
    const next = now[index] ?? "";
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    const isCode = fence !== null || mark !== undefined || isFrontMatter || /^(?: {4}|\t|import |export )/.test(line);
    if (line !== next) {
      if (isCode) return null;
      pairs.push({ before: line, after: next });
    }
    if (isFrontMatter) isFrontMatter = index === 0 || !/^---\s*$/.test(line);
    else if (mark !== undefined) fence = fence === null ? mark : line.trim().startsWith(fence) ? null : fence;
  }
  return pairs;
}

/** Where links of Markdown and HTML lead. Images are no links: another picture says something else. */
const destination = /(?<=(?<!!)\[[^\]]*\]\(<?)[^)\s>]*|(?<=^\s*\[[^\]]+\]:\s+)\S+|(?<=\bhref=["'])[^"']*/g;

function isLinkFix({ before, after }: LinePair): boolean {
  if (before.replaceAll(destination, "") !== after.replaceAll(destination, "")) return false;
  const [old, now] = [before.match(destination) ?? [], after.match(destination) ?? []];
  return old.length === now.length && now.every((to, index) => to === old[index] || isSafe(to, old[index] ?? ""));
}

/** Within the site, or on the host that it led to. */
function isSafe(to: string, from: string): boolean {
  if (/^(?!\/\/)[\w./#?=&%~-]+$/.test(to)) return true;
  const [next, old] = [URL.parse(to), URL.parse(from)];
  return next !== null && old !== null && /^https?:$/.test(next.protocol) && next.host === old.host && !next.username;
}

const codeOrAddress = /`[^`]*`|<[^>]*>|\{[^}]*\}|\]\([^)]*\)|https?:\/\/\S+/g;
const word = /(\p{L}+)/u;
const wordLettersMin = 5;
const wordsMax = 3;

/** Words with one letter too many, missing, exchanged or wrong, that the pages have nowhere else. */
function isTypo({ before, after }: LinePair, texts: readonly string[]): boolean {
  const [old, now] = [before, after].map((line) => ({
    fixed: line.match(codeOrAddress) ?? [],
    words: line.replaceAll(codeOrAddress, "\0").split(word),
  }));
  if (!old || !now || old.fixed.join("\0") !== now.fixed.join("\0") || old.words.length !== now.words.length)
    return false;
  const changed = old.words.flatMap((part, index) => (part === now.words[index] ? [] : [index]));
  if (changed.length > wordsMax) return false;
  return changed.every((index) => {
    const [wrong = "", right = ""] = [old.words[index], now.words[index]];
    return (
      index % 2 === 1 &&
      Math.min(wrong.length, right.length) >= wordLettersMin &&
      isOneLetterApart(wrong, right) &&
      !texts.some((text) => text.toLowerCase().split(word).includes(wrong.toLowerCase()))
    );
  });
}

function isOneLetterApart(left: string, right: string): boolean {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  if (long.length - short.length > 1) return false;
  let same = 0;
  while (same < short.length && short[same] === long[same]) same += 1;
  if (long.length > short.length) return short.slice(same) === long.slice(same + 1);
  if (short.slice(same + 1) === long.slice(same + 1)) return true;
  const isSwapped = short[same] === long[same + 1] && short[same + 1] === long[same];
  return isSwapped && short.slice(same + 2) === long.slice(same + 2);
}
