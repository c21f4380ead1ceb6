import { hash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { isAbsent } from "../folder-tree.ts";
import { pageBytesMax } from "./scan-page.ts";

export interface FileRead {
  /** Valid only until the next file is read. */
  bytes: Uint8Array;
  hash: string;
}

/** Reads small files one after another into the same buffer. Of a too large page, it reads only the beginning. */
export function createFileReader(): (path: string) => FileRead | null {
  let buffer = Buffer.allocUnsafeSlow(64 * 1024);

  function fill(file: number): number {
    let end = headerBytesMax;
    while (end <= headerBytesMax + pageBytesMax) {
      if (end === buffer.byteLength) {
        const larger = Buffer.allocUnsafeSlow(buffer.byteLength * 4);
        buffer.copy(larger);
        buffer = larger;
      }
      const count = readSync(file, buffer, end, buffer.byteLength - end, null);
      if (count === 0) break;
      end += count;
    }
    return end;
  }

  return (path) => {
    let file: number;
    try {
      file = openSync(path, "r");
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
    try {
      const end = fill(file);
      return { bytes: buffer.subarray(headerBytesMax, end), hash: hashInPlace(buffer, headerBytesMax, end) };
    } finally {
      closeSync(file);
    }
  };
}

/** git's blob id of these bytes, so that a folder and a commit have the same hashes. */
export function contentHash(bytes: Uint8Array): string {
  const header = headerOf(bytes.byteLength);
  return hash("sha1", Buffer.concat([Buffer.from(header), bytes]), "hex");
}

/** The free space that `hashInPlace` needs before the bytes. */
const headerBytesMax = 32;

/** The same without a copy, for bytes in a buffer with free space before them. */
function hashInPlace(buffer: Buffer, start: number, end: number): string {
  const header = headerOf(end - start);
  buffer.write(header, start - header.length, "latin1");
  return hash("sha1", buffer.subarray(start - header.length, end), "hex");
}

function headerOf(length: number): string {
  return `blob ${length}\0`;
}
