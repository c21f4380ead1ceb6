import { hash } from "node:crypto";

/** git's id for these bytes, so that a folder and a commit agree on what is the same. */
export function contentHash(bytes: Uint8Array): string {
  const header = headerOf(bytes.byteLength);
  return hash("sha1", Buffer.concat([Buffer.from(header), bytes]), "hex");
}

/** Room that `hashInPlace` needs before the bytes. */
export const headerBytesMax = 32;

/** The same for bytes that lie in a buffer with room before them: nothing is copied. */
export function hashInPlace(buffer: Buffer, start: number, end: number): string {
  const header = headerOf(end - start);
  buffer.write(header, start - header.length, "latin1");
  return hash("sha1", buffer.subarray(start - header.length, end), "hex");
}

function headerOf(length: number): string {
  return `blob ${length}\0`;
}
