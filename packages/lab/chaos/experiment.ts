import type { Pool } from "../../server/src/db/pool.ts";
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
type Random = () => number;

export function scaled(count: number, { scale }: Pick<Setting, "scale">): number {
  return Math.max(1, Math.round(count * scale));
}
