import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Logger } from "@emend/base/logger.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { version } from "../lib/version.ts";

export interface Node {
  id: string;
  host: string;
  role: string;
  version: string;
  /** Why it takes no jobs, or null. */
  problem: string | null;
  startedAt: Date;
  seenAt: Date;
}

const beatMs = 15_000;
/** How soon a job's page can say that no process takes jobs, and why. */
const problemMs = 1_000;
/** After this many missed heartbeats a process counts as gone. It stays listed for a day. */
const silentMsMax = 4 * beatMs;
const keptHours = 24;

/** Writes a heartbeat for this process every 15 seconds, and at once when it begins or ceases to take jobs. */
export async function startHeartbeat(
  deps: { pool: Pool; log: Logger; problem?(): Promise<string | null> },
  role: string,
): Promise<{ stop(): Promise<void> }> {
  const { pool } = deps;
  const id = randomUUID();
  let told: { at: number; problem: string | null } = { at: 0, problem: null };
  async function beat(problem: string | null): Promise<void> {
    told = { at: performance.now(), problem };
    await pool.query(
      `insert into nodes (id, host, role, version, problem) values ($1, $2, $3, $4, $5)
       on conflict (id) do update set seen_at = clock_timestamp(), problem = excluded.problem`,
      [id, hostname(), role, version, problem],
    );
    await pool.query("delete from nodes where seen_at < now() - make_interval(hours => $1)", [keptHours]);
  }
  const findProblem = async () => (await deps.problem?.()) ?? null;
  async function beatIfDue(): Promise<void> {
    const problem = await findProblem();
    if (problem !== told.problem || performance.now() - told.at >= beatMs) await beat(problem);
  }
  await beat(await findProblem());
  let beating: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // A database outage is reported elsewhere. The next heartbeat follows.
    beating = beatIfDue().catch((err) => deps.log.debug({ err }, "no sign of life could be stored"));
  }, problemMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await beating;
      await pool.query("delete from nodes where id = $1", [id]).catch(() => {});
    },
  };
}

/** Newest first. */
export async function listNodes(db: Queryable): Promise<readonly (Node & { isAlive: boolean })[]> {
  const { rows } = await db.query<Node & { isAlive: boolean }>(
    `select id, host, role, version, problem, started_at as "startedAt", seen_at as "seenAt",
       seen_at > now() - make_interval(secs => $1) as "isAlive"
     from nodes order by "isAlive" desc, role, host, started_at desc limit 200`,
    [silentMsMax / 1000],
  );
  return rows;
}
