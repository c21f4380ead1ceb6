import { setTimeout as pause } from "node:timers/promises";
import type { Pool } from "../src/db/pool.ts";

const msMax = 20 * 60_000;

/** Waits until no job is active (or as few as said), with retries while the database is unavailable. */
export async function untilAllEnded(pool: Pool, activeMax = 0): Promise<void> {
  const deadline = performance.now() + msMax;
  for (;;) {
    const active = await pool
      .query<{ count: number }>("select count(*)::int as count from jobs where status = 'active'")
      .then(({ rows }) => rows[0]?.count ?? 0)
      .catch(() => Number.POSITIVE_INFINITY);
    if (active <= activeMax) return;
    if (performance.now() > deadline)
      throw new Error(`${active} jobs are still active after ${msMax / 60_000} minutes`);
    await pause(100);
  }
}
