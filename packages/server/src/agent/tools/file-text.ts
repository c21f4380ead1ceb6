import type { Tree } from "../../tree/tree.ts";

const readBytesMax = 4_000_000;

export type FileText = { kind: "text"; bytes: Buffer } | { kind: "refused"; reason: string };

/** Reads a file that a model can work on: it exists, is not binary, and is not too large. */
export async function readText(tree: Tree, path: string): Promise<FileText> {
  const bytes = await tree.read(path);
  if (bytes === null) {
    return { kind: "refused", reason: `there is no file ${JSON.stringify(path)}; list_files shows what there is` };
  }
  if (bytes.byteLength > readBytesMax) {
    return {
      kind: "refused",
      reason: `${path} has ${bytes.byteLength} bytes, more than the ${readBytesMax} that can be read; use search`,
    };
  }
  if (bytes.subarray(0, 8000).includes(0)) return { kind: "refused", reason: `${path} is a binary file` };
  return { kind: "text", bytes };
}
