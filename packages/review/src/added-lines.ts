import { isFault } from "@emend/base/fault.ts";
import type { OverlayEntry, Tree } from "@emend/tree";

export interface AddedLine {
  path: string;
  /** 1-based. */
  line: number;
  text: string;
}

export interface Added {
  lines: readonly AddedLine[];
  /** The changed files after the change. */
  files: ReadonlyArray<{ path: string; text: string }>;
  /** The changed files before the change. New files are left out. */
  before: ReadonlyArray<{ path: string; text: string }>;
  /** Whether a changed file contained this text before the change. */
  heldBefore(text: string): boolean;
  /** How often the changed files contain a character, before and after. */
  count(character: string): { before: number; after: number };
}

/** The lines that a change adds. A line that moved, even to another file, is not added: it existed before. */
export async function addedLines(base: Tree, entries: readonly OverlayEntry[]): Promise<Added> {
  const before: Array<{ path: string; text: string }> = [];
  const after: Array<{ path: string; text: string }> = [];
  for (const { path, content } of entries) {
    const old = await readable(base, path);
    if (old !== null) before.push({ path, text: old.toString() });
    if (content !== null) after.push({ path, text: content.toString() });
  }
  const known = new Map<string, number>();
  for (const { text } of before) {
    for (const line of splitLines(text)) known.set(line, (known.get(line) ?? 0) + 1);
  }
  const lines: AddedLine[] = [];
  for (const { path, text } of after) {
    for (const [index, line] of splitLines(text).entries()) {
      const left = known.get(line) ?? 0;
      if (left > 0) known.set(line, left - 1);
      else lines.push({ path, line: index + 1, text: line });
    }
  }
  return {
    lines,
    files: after,
    before,
    heldBefore: (text) => before.some((file) => file.text.includes(text)),
    count: (character) => ({
      before: before.reduce((sum, { text }) => sum + occurrences(text, character), 0),
      after: after.reduce((sum, { text }) => sum + occurrences(text, character), 0),
    }),
  };
}

/** A file that is too large to read can only have been deleted, so it adds no lines. */
async function readable(base: Tree, path: string): Promise<Buffer | null> {
  try {
    return await base.read(path);
  } catch (error) {
    if (isFault(error, "invalid_request")) return null;
    throw error;
  }
}

function splitLines(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}
