import { isAppError } from "../errors.ts";
import type { OverlayEntry, Tree } from "../tree/tree.ts";

export interface AddedLine {
  path: string;
  /** From 1. */
  line: number;
  text: string;
}

export interface Added {
  lines: readonly AddedLine[];
  /** The changed files as they are now. */
  files: ReadonlyArray<{ path: string; text: string }>;
  /** Those of them that were there, as they were. */
  before: ReadonlyArray<{ path: string; text: string }>;
  /** Whether the changed files held this text before. */
  heldBefore(text: string): boolean;
  /** How often the changed files held it before, and hold it now. */
  count(character: string): { before: number; after: number };
}

/** The lines that a change brings in. A line that moved, even to another file, is none: it was there before. */
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

/** A file too large to be read can only have been deleted, and adds nothing. */
async function readable(base: Tree, path: string): Promise<Buffer | null> {
  try {
    return await base.read(path);
  } catch (error) {
    if (isAppError(error, "invalid_request")) return null;
    throw error;
  }
}

function splitLines(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}
