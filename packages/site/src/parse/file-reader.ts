import { closeSync, openSync, readSync } from "node:fs";
import { isAbsent } from "../text/absent.ts";
import { hashInPlace, headerBytesMax } from "./content-hash.ts";
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
