import { hash } from "node:crypto";

/** git's blob id of these bytes, so that a folder and a commit have the same hashes. */
export function contentHash(bytes: Uint8Array): string {
  const header = headerOf(bytes.byteLength);
  return hash("sha1", Buffer.concat([Buffer.from(header), bytes]), "hex");
}

/** The free space that `hashInPlace` needs before the bytes. */
export const headerBytesMax = 32;

/** The same without a copy, for bytes in a buffer with free space before them. */
export function hashInPlace(buffer: Buffer, start: number, end: number): string {
  const header = headerOf(end - start);
  buffer.write(header, start - header.length, "latin1");
  return hash("sha1", buffer.subarray(start - header.length, end), "hex");
}

function headerOf(length: number): string {
  return `blob ${length}\0`;
}
