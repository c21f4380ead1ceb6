import type { Pool } from "../src/db/pool.ts";
import type { History } from "./judge.ts";

/** An experiment's tools: its own database, a seeded random generator, and its history. */
export interface Setting {
  url: string;
  pool: Pool;
  /** Kills Postgres with -9; its supervisor restarts it. Absent if Postgres is not ours. */
  killPostgres?(): Promise<void>;
  random: Random;
  history: History;
  /** 1: the promised numbers. A sample uses a fraction of them. */
  scale: number;
  /** The commit that an upgrade begins with. */
  from?: string | undefined;
}

export interface Experiment {
  name: string;
  /** What is done, and what must result. */
  claim: string;
  run(setting: Setting): Promise<void>;
}

/** Uniform in [0, 1). */
export type Random = () => number;

/** Mulberry32: small, good enough to spread kills, and the same on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function scaled(count: number, { scale }: Pick<Setting, "scale">): number {
  return Math.max(1, Math.round(count * scale));
}
