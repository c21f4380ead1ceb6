import type { Logger } from "@emend/base/logger.ts";
import { createPatchReader, type PatchFile, type StepFile } from "@emend/contract";
import type { Overlay, OverlayEntry, Tree } from "@emend/tree";

/** What a step changed, for those who watch. */
export interface StepChanges {
  files: readonly StepFile[];
  /** The whole change so far; null: it is too large to be shown before it is reviewed. */
  patch: Buffer | null;
}

/** Each step of a large change would take longer than its model. */
const entriesMax = 200;
const patchBytesMax = 1024 * 1024;
const filesShownMax = 20;
/** The step has an answer that was paid for, which is stored after this time in any case. */
const readMsMax = 1_000;

/** Follows an overlay from step to step. What it cannot tell is left out: a step is stored in any case. */
export function followChanges(tree: { base: Tree; overlay: Overlay }, log: Logger) {
  const contents = new Map(tree.overlay.entries().map(({ path, content }) => [path, content]));
  const contentOf = async (path: string) => {
    const known = contents.get(path);
    return known === undefined ? tree.base.read(path) : known;
  };

  async function read(edits: readonly OverlayEntry[], signal: AbortSignal): Promise<StepChanges> {
    const isSmall = tree.overlay.entries().length <= entriesMax;
    const patch = isSmall ? await tree.overlay.diff(signal) : null;
    const before = new Map<string, Buffer | null>();
    for (const { path } of edits) before.set(path, await contentOf(path));
    for (const { path, content } of edits) contents.set(path, content);
    const files = isSmall ? compare(edits, before, renamesIn(patch)) : [];
    return { files, patch: patch && patch.length <= patchBytesMax ? patch : null };
  }

  return async (edits: readonly OverlayEntry[], signal: AbortSignal): Promise<StepChanges | null> => {
    if (edits.length === 0) return null;
    const either = AbortSignal.any([signal, AbortSignal.timeout(readMsMax)]);
    const isOver = new Promise<never>((_, reject) => either.addEventListener("abort", () => reject(either.reason)));
    try {
      return await Promise.race([read(edits, either), isOver]);
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error }, "could not show a step's changes");
      return null;
    }
  };
}

/** By the new path. */
function renamesIn(patch: Buffer | null): ReadonlyMap<string, string> {
  const reader = createPatchReader();
  reader.read(patch?.toString("utf8") ?? "");
  const renamed = reader.end().filter((file): file is PatchFile & { pathBefore: string } => file.pathBefore !== null);
  return new Map(renamed.map(({ path, pathBefore }) => [path, pathBefore]));
}

function compare(
  edits: readonly OverlayEntry[],
  before: ReadonlyMap<string, Buffer | null>,
  renames: ReadonlyMap<string, string>,
): StepFile[] {
  const files = edits.flatMap(({ path, content }): StepFile[] => {
    const origin = renames.get(path);
    // In this very step: a page that was renamed earlier is edited like any other.
    const from = origin !== undefined && before.get(origin) && !before.get(path) ? origin : undefined;
    const old = before.get(from ?? path) ?? null;
    if (old === null && content === null) return [];
    const change = from !== undefined ? "renamed" : old === null ? "added" : content === null ? "deleted" : "modified";
    return [{ path, change, ...countLines(textOf(old), textOf(content)), ...(from !== undefined && { from }) }];
  });
  const gone = new Set(files.flatMap(({ from }) => from ?? []));
  return files.filter(({ path, change }) => change !== "deleted" || !gone.has(path)).slice(0, filesShownMax);
}

function textOf(content: Buffer | null): string {
  return content?.toString("utf8") ?? "";
}

const differencesMax = 1_000;

/** How many lines were added and deleted: by Myers' greedy search, which is exact while few lines differ. */
export function countLines(before: string, after: string): { additions: number; deletions: number } {
  let [left, right] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  const shorter = Math.min(left.length, right.length) - start;
  while (end < shorter && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  [left, right] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  const distance = distanceOf(left, right);
  const deletions = (distance - right.length + left.length) / 2;
  return { additions: distance - deletions, deletions };
}

function distanceOf(left: readonly string[], right: readonly string[]): number {
  const all = left.length + right.length;
  const furthest = new Map<number, number>([[1, 0]]);
  for (let distance = 0; distance <= Math.min(all, differencesMax); distance += 1) {
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      const down = furthest.get(diagonal + 1) ?? -1;
      const across = (furthest.get(diagonal - 1) ?? -2) + 1;
      let x = Math.max(down, across);
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= left.length && x - diagonal >= right.length) return distance;
    }
  }
  return all;
}

function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}
