import { hash } from "node:crypto";
import type { Edits, Refactoring, SiteTree } from "../../src/index.ts";

export type Files = Record<string, string | Uint8Array>;

export interface MemoryTree extends SiteTree {
  files: ReadonlyMap<string, Uint8Array>;
  /** A copy of the tree with some edits. The original stays unchanged. */
  with(edits: Edits): MemoryTree;
  text(path: string): string;
}

function make(files: ReadonlyMap<string, Uint8Array>): MemoryTree {
  return {
    files,
    list: async () =>
      [...files].map(([path, bytes]) => ({ path, hash: hash("sha1", bytes, "hex"), size: bytes.byteLength })),
    read: async (path) => files.get(path) ?? null,
    with(edits) {
      const next = new Map(files);
      for (const [path, bytes] of edits) {
        if (bytes === null) next.delete(path);
        else next.set(path, bytes);
      }
      return make(next);
    },
    text: (path) => Buffer.from(files.get(path) ?? new Uint8Array()).toString("utf8"),
  };
}

/** A tree in memory. */
export function memoryTree(files: Files): MemoryTree {
  const bytes = Object.entries(files).map(([path, content]): [string, Uint8Array] => [path, Buffer.from(content)]);
  return make(new Map(bytes));
}

/** The edits of a refactoring. Fails if it refused. */
export function editsOf(refactoring: Refactoring): Edits {
  if (refactoring.kind === "refused") throw new Error(`refused: ${refactoring.reason}`);
  return refactoring.edits;
}
