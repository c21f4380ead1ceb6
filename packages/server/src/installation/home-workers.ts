import { createHash } from "node:crypto";

/**
 * Each project has two home workers, which keep a mirror of it: others take its job only if both leave it waiting. Projects
 * are spread over slots by a hash, and slots over workers by rendezvous hashing: a worker that comes or goes moves only its
 * own slots.
 */
const homesOfSlot = 2;
/** A power of two. */
const slotCount = 1_024;

/** The same number for every process that uses this folder on this machine. */
export function homeOf(host: string, dataDir: string): number {
  return createHash("sha256").update(`${host}\n${dataDir}`).digest().readInt32BE();
}

/** A bit for each slot whose home this worker is. Null: it is a home of all, because there are at most two workers. */
export function slotsOf(own: number, workers: readonly number[]): Buffer | null {
  const others = [...new Set(workers)].filter((worker) => worker !== own);
  if (others.length < homesOfSlot) return null;
  const slots = Buffer.alloc(slotCount / 8);
  for (let slot = 0; slot < slotCount; slot += 1) {
    const weight = weightOf(own, slot);
    const isBefore = (worker: number) => {
      const other = weightOf(worker, slot);
      return other > weight || (other === weight && worker > own);
    };
    if (others.filter(isBefore).length < homesOfSlot) slots[slot >> 3] = (slots[slot >> 3] ?? 0) | (1 << (slot & 7));
  }
  return slots;
}

/** Mixes the bits of both, so that each worker has an order of its own. */
function weightOf(worker: number, slot: number): number {
  let bits = Math.imul(worker ^ Math.imul(slot + 1, 0x9e3779b1), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 15), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
