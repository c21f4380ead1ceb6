import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Dialect } from "./dialect.ts";
import type { ParseBatch, ParsedBatch } from "./parse-worker.ts";

export interface ParsePool {
  /** Facts as JSON, a file each. */
  parse(files: readonly { bytes: Uint8Array; dialect: Dialect }[]): Promise<string[]>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(facts: string[]): void;
  reject(error: Error): void;
}

const threadsMax = 4;

/** Threads for the time of one parse. Starting them costs less than a hundred pages do. */
export function openParsePool(): ParsePool {
  // The calling thread has work of its own: reading, and linking what the others found.
  const size = Math.max(1, Math.min(threadsMax, availableParallelism() - 1));
  const waiting = new Map<number, Waiting>();
  const fail = (error: Error): void => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const workers = Array.from({ length: size }, () => {
    const worker = new Worker(new URL("./parse-worker.ts", import.meta.url));
    worker.on("message", ({ id, facts }: ParsedBatch) => {
      waiting.get(id)?.resolve(facts);
      waiting.delete(id);
    });
    worker.on("error", fail);
    return worker;
  });
  let next = 0;

  function parse(files: readonly { bytes: Uint8Array; dialect: Dialect }[]): Promise<string[]> {
    const id = next++;
    const total = files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
    const joined = new Uint8Array(total);
    const ends: number[] = [];
    let at = 0;
    for (const { bytes } of files) {
      joined.set(bytes, at);
      at += bytes.byteLength;
      ends.push(at);
    }
    const batch: ParseBatch = { id, buffer: joined.buffer, ends, dialects: files.map(({ dialect }) => dialect) };
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      workers[id % workers.length]?.postMessage(batch, [joined.buffer]);
    });
  }

  async function close(): Promise<void> {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  return { parse, close };
}
