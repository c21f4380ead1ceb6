import type { Edits } from "@emend/site";
import type { Overlay } from "../tree/tree.ts";

/** Applies all edits, or none if the overlay refuses one. */
export async function applyEdits(overlay: Overlay, edits: Edits): Promise<void> {
  const undo: Array<[path: string, before: Buffer | null]> = [];
  // Deletions first: a page may become a folder (auth.md → auth/index.md).
  const inOrder = [...edits].sort(([, a], [, b]) => Number(a !== null) - Number(b !== null));
  try {
    for (const [path, bytes] of inOrder) {
      const before = await overlay.read(path);
      await write(overlay, path, bytes);
      undo.unshift([path, before]);
    }
  } catch (error) {
    for (const [path, before] of undo) await write(overlay, path, before);
    throw error;
  }
}

/** Reverts all edits. */
export async function revertAll(overlay: Overlay, base: { read(path: string): Promise<Buffer | null> }): Promise<void> {
  const before = new Map<string, Buffer | null>();
  for (const { path } of overlay.entries()) before.set(path, await base.read(path));
  await applyEdits(overlay, before);
}

async function write(overlay: Overlay, path: string, bytes: Uint8Array | null): Promise<void> {
  if (bytes === null) return overlay.delete(path);
  await overlay.set(path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}
