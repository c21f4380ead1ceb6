import { hash } from "node:crypto";

/** git's id for these bytes, so that a folder and a commit agree on what is the same. */
export function contentHash(bytes: Uint8Array): string {
  return hash("sha1", Buffer.concat([Buffer.from(`blob ${bytes.byteLength}\0`), bytes]), "hex");
}
