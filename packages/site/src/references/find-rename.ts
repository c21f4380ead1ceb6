import { decodePiece, toByteString } from "../text/bytes.ts";
import type { SourceIndex } from "./source-index.ts";

/** The only new path with the old file's content. */
export function movedUnchanged(path: string, before: SourceIndex, after: SourceIndex): string | null {
  const id = before.files.get(path);
  if (id === undefined || id === "") return null;
  const found = [...after.files].filter(([other, hash]) => hash === id && !before.files.has(other));
  return found.length === 1 ? (found[0]?.[0] ?? null) : null;
}

export const filesLookedAtMax = 200;
const linesMax = 5000;

/**
 * The name that replaced the old one everywhere: each line that had the old name exists again with the new name. If a
 * line is gone, or has a different name, the rename is not certain. One line alone is not enough either: a list of options
 * has many lines of the same shape. Then the names must have a part in common.
 */
export async function renamedTo(
  word: string,
  paths: readonly string[],
  before: SourceIndex,
  after: SourceIndex,
  { renames, signal }: { renames?: ReadonlyMap<string, string>; signal?: AbortSignal },
): Promise<string | null> {
  if (paths.length > filesLookedAtMax) return null;
  let to: string | null = null;
  const shapes = new Set<string>();
  for (const path of paths) {
    signal?.throwIfAborted();
    const now = after.files.has(path) ? path : (renames?.get(path) ?? movedUnchanged(path, before, after));
    const [old, fresh] = await Promise.all([before.tree.read(path), now === null ? null : after.tree.read(now)]);
    if (old === null || fresh === null) return null;
    const isGone = (name: string) => !after.has(name);
    const found = replacementIn(word, toByteString(old), toByteString(fresh), { isGone, shapes });
    if (found === null || (to !== null && found !== to)) return null;
    to = found;
  }
  if (to === null || before.has(to) || !after.has(to)) return null;
  return shapes.size > 1 || haveCommonPart(word, to) ? to : null;
}

/** `outFile` and `--output-file`: one part is the same, or begins the other. */
function haveCommonPart(one: string, other: string): boolean {
  const others = partsOf(other);
  return partsOf(one).some((part) => others.some((next) => part === next || begins(part, next) || begins(next, part)));
}

function begins(part: string, whole: string): boolean {
  return part.length > 2 && whole.startsWith(part);
}

function partsOf(name: string): string[] {
  const parts = name.split(/(?<=\p{Ll})(?=\p{Lu})|\P{L}+/u).map((part) => part.toLowerCase());
  // `xOldName`: a single letter means nothing.
  return parts.filter((part) => part.length > 1);
}

const wordCharacter = /[\w$\x80-\xff-]/;

/** `isGone`: whether no source has a name any more. `shapes`: what surrounds the name, of each line that was renamed. */
function replacementIn(
  word: string,
  before: string,
  after: string,
  { isGone, shapes }: { isGone: (name: string) => boolean; shapes: Set<string> },
): string | null {
  const [oldLines, newLines] = changedLines(before, after);
  const added = withoutAll(newLines, oldLines);
  if (oldLines.length > linesMax * 4 || added.length > linesMax) return null;
  let to: string | null = null;
  let untouched: Set<string> | undefined;
  let removed: string[] | undefined;
  let looked = 0;
  let isOnly = false;
  for (const line of oldLines) {
    const pieces = splitAtWord(line, word);
    if (pieces.length === 1) continue;
    const candidates = (nameIn: typeof middleOf) =>
      added.map((one) => ({ line: one, name: nameIn(one, pieces) })).filter(({ name }) => name !== null);
    const exact = candidates(middleOf);
    // The same change may give it other parameters.
    const nameIn = exact.length === 0 ? calledIn : middleOf;
    const found = exact.length === 0 ? candidates(calledIn) : exact;
    if (to === null || !found.some(({ name }) => name === to)) {
      let names = new Set(found.map(({ name }) => name));
      if (names.size > 1) {
        // One may repeat a line that the change did not touch.
        untouched ??= new Set(linesOf(before));
        names = new Set(found.flatMap(({ line: one, name }) => (untouched?.has(one) ? [] : name)));
      }
      if (names.size !== 1 || to !== null) return null;
      [to = null] = names;
    }
    if (exact.length > 0) shapes.add(pieces.join("\0").trim());
    // Where another name left such a line too, either may be the renamed one.
    if (isOnly || ++looked > rivalsLookedAtMax) continue;
    removed ??= withoutAll(oldLines, newLines);
    isOnly = !hasRival(word, pieces, removed, { isGone, nameIn });
  }
  return to === null || !isOnly ? null : decodePiece(to);
}

const rivalsLookedAtMax = 100;

function hasRival(
  word: string,
  pieces: readonly string[],
  removed: readonly string[],
  { isGone, nameIn }: { isGone: (name: string) => boolean; nameIn: typeof middleOf },
): boolean {
  const plain = pieces.with(-1, (pieces.at(-1) as string).replace(/[,;]$/, ""));
  return removed.some((line) => {
    const name = nameIn(line.replace(/[,;]$/, ""), plain);
    return name !== null && name !== word && isGone(decodePiece(name));
  });
}

function withoutAll(lines: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line));
}

/** The lines of both texts without those that both start or end with, which are most lines of most changes. */
function changedLines(before: string, after: string): [string[], string[]] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  start = start === 0 ? 0 : before.lastIndexOf("\n", start - 1) + 1;
  let end = 0;
  while (
    end < shorter - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  )
    end++;
  const rest = before.indexOf("\n", before.length - end);
  end = rest === -1 ? 0 : before.length - rest;
  return [linesOf(before.slice(start, before.length - end)), linesOf(after.slice(start, after.length - end))];
}

/** A plain split is ten times as fast as one by a pattern. */
function linesOf(text: string): string[] {
  return text.includes("\r") ? text.split(/\r?\n/) : text.split("\n");
}

/** The line split at each occurrence of the whole word. */
function splitAtWord(line: string, word: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let at = line.indexOf(word); at !== -1; at = line.indexOf(word, at + 1)) {
    const last = line.charAt(at - 1);
    const next = line.charAt(at + word.length);
    if ((at > 0 && wordCharacter.test(last) && !(last === "-" && !word.startsWith("-"))) || /[\w$]/.test(next))
      continue;
    if (at < from) continue;
    pieces.push(line.slice(from, at));
    from = at + word.length;
  }
  pieces.push(line.slice(from));
  return pieces;
}

/** The name between the pieces of a line, the same in every gap. */
function middleOf(line: string, pieces: readonly string[]): string | null {
  const first = pieces[0] as string;
  const second = pieces[1] as string;
  if (!line.startsWith(first)) return null;
  const name = /^[\w$-]+/.exec(line.slice(first.length))?.[0];
  if (name === undefined) return null;
  // A name may contain the next piece's first character, such as a dash: compare the whole line.
  return line === pieces.join(name) && (second !== "" || line.endsWith(name)) ? name : null;
}

/** The name after the same words and before a bracket, whatever is in the brackets: `function name(`. */
function calledIn(line: string, [first = "", second = ""]: readonly string[]): string | null {
  if (!second.startsWith("(") || !line.startsWith(first)) return null;
  return /^[\w$]+(?=\()/.exec(line.slice(first.length))?.[0] ?? null;
}
