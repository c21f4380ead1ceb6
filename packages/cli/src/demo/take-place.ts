import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isPortFree } from "./is-port-free.ts";

/** A data directory and a port that belong together and to this process alone. */
export interface Place {
  dataDir: string;
  /** 0: any free one. */
  port: number;
  release(): void;
}

const firstPort = 4610;
const placesMax = 20;

/**
 * The first place that nobody uses. The same directory gets the same port each time, so that the links of an earlier
 * run stay good; a demo that was left running, or started at the same time, keeps its place and this one gets another.
 */
export async function takePlace(parent: string): Promise<Place> {
  const { tryFileLock } = await import("@emend/server");
  for (let number = 1; number <= placesMax; number += 1) {
    const dataDir = join(parent, number === 1 ? "demo" : `demo-${number}`);
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const lock = tryFileLock(join(dataDir, "demo.lock"));
    if (!lock) continue;
    const port = firstPort + number - 1;
    if (await isPortFree(port)) return { dataDir, port, release: lock.release };
    lock.release();
  }
  throw new Error(`${placesMax} demos run already; stop one, or name a folder with --data DIR`);
}
