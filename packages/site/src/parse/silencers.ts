import { decodePiece, indexLines } from "../text/bytes.ts";
import type { Dialect } from "./dialect.ts";
import { readProse } from "./prose.ts";

/** An ignore comment in a page: `<!-- emend-ignore broken-link: served by another site -->`. */
export interface Silencer {
  line: number;
  column: number;
  checks: readonly string[];
  /** Empty if the comment gives none: then it has no effect. */
  reason: string;
  /** The lines that it covers: its own, the block below it, or the whole page. */
  from: number;
  to: number;
}

export const silencerWord = "emend-ignore";
const lastLine = 2 ** 31 - 1;
const comment =
  /<!--\s*emend-ignore(-page)?(?![\w-])([\s\S]{0,1000}?)-->|\{\s*\/\*\s*emend-ignore(-page)?(?![\w-])([\s\S]{0,1000}?)\*\/\s*\}|^%[ \t]*emend-ignore(-page)?(?![\w-])([^\n]{0,1000})/gm;

/** The ignore comments of a page, held as a byte string. Those inside code are examples. */
export function readSilencers(text: string, dialect: Dialect): Silencer[] {
  const { code } = readProse(text, dialect);
  const lines = indexLines(text);
  const found: Silencer[] = [];
  for (const match of text.matchAll(comment)) {
    const { index } = match;
    if (code.some(({ start, end }) => index >= start && index < end)) continue;
    const isMdx = match[4] !== undefined;
    const isMyst = match[6] !== undefined;
    if ((isMdx && dialect.syntax !== "mdx") || (isMyst && dialect.includes !== "myst")) continue;
    const isPage = (match[1] ?? match[3] ?? match[5]) !== undefined;
    const [checks = "", ...reason] = decodePiece(match[2] ?? match[4] ?? match[6] ?? "").split(":");
    found.push({
      ...lines.place(index),
      checks: checks.split(/[\s,]+/).filter((id) => id !== ""),
      reason: reason.join(":").trim(),
      ...(isPage ? { from: 1, to: lastLine } : coveredLines(text, index, index + match[0].length)),
    });
  }
  return found;
}

/**
 * The comment's own line if it contains something else. Otherwise the block below: up to a blank line, or a whole
 * fence.
 */
function coveredLines(text: string, start: number, end: number): { from: number; to: number } {
  const all = text.split("\n");
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length - 1;
  const [first, last] = [lineAt(start), lineAt(end)];
  const before = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  const after = text.slice(end, text.indexOf("\n", end) === -1 ? text.length : text.indexOf("\n", end));
  if (before.trim() !== "" || after.trim() !== "") return { from: first + 1, to: last + 1 };
  let from = last + 1;
  while (from < all.length && all[from]?.trim() === "") from++;
  const fence = /^\s*(`{3,}|~{3,})/.exec(all[from] ?? "")?.[1];
  const isEnd = (line: string): boolean => (fence === undefined ? line.trim() === "" : line.trim().startsWith(fence));
  let to = from + 1;
  while (to < all.length && !isEnd(all[to] ?? "")) to++;
  return { from: from + 1, to: fence === undefined ? to : to + 1 };
}
