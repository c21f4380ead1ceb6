import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Logger } from "@emend/base/logger.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { version } from "../lib/version.ts";
import { slotsOf } from "./home-workers.ts";
import { undoClockJump } from "./undo-clock-jump.ts";

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
/** How long a worker trusts its list of the others. */
const workersMs = 2_000;

interface Heartbeat {
  /** Says whether this process has a free slot, so that its projects need not wait for it. */
  tellRoom(hasRoom: boolean): void;
  /** The slots of projects whose home this worker is; null: all of them. */
  homeSlots(): Promise<Buffer | null>;
  stop(): Promise<void>;
}

/**
 * Writes a heartbeat for this process every 15 seconds, and at once when it begins or ceases to take jobs. `home`: where
 * its mirrors are, if it has any.
 */
export async function startHeartbeat(
  deps: { pool: Pool; log: Logger; problem?(): Promise<string | null> },
  role: string,
  home?: number,
): Promise<Heartbeat> {
  const { pool } = deps;
  const id = randomUUID();
  let isFull = false;
  let told: { at: number; problem: string | null; isFull: boolean } = { at: 0, problem: null, isFull };
  async function beat(problem: string | null): Promise<void> {
    told = { at: performance.now(), problem, isFull };
    const jumpSeconds = await undoClockJump(pool);
    if (jumpSeconds > 0) deps.log.warn({ jumpSeconds }, "the database's clock went back; due times go back with it");
    await pool.query(
      `insert into nodes (id, host, role, version, problem, home, is_full) values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (id) do update set seen_at = clock_timestamp(), problem = excluded.problem, is_full = excluded.is_full`,
      [id, hostname(), role, version, problem, home, isFull],
    );
    await pool.query("delete from nodes where seen_at < now() - make_interval(hours => $1)", [keptHours]);
  }
  const findProblem = async () => (await deps.problem?.()) ?? null;
  async function beatIfDue(): Promise<void> {
    const problem = await findProblem();
    const isNews = problem !== told.problem || isFull !== told.isFull;
    if (isNews || performance.now() - told.at >= beatMs) await beat(problem);
  }
  let others: { at: number; homes: readonly number[]; slots: Buffer | null } | undefined;
  async function homeSlots(): Promise<Buffer | null> {
    if (home === undefined) return null;
    if (others && performance.now() - others.at < workersMs) return others.slots;
    const { rows } = await pool.query<{ home: number }>(
      `select distinct home from nodes
       where home <> $1 and problem is null and not is_full and seen_at > now() - make_interval(secs => $2) order by home`,
      [home, silentMsMax / 1000],
    );
    const homes = rows.map((row) => row.home);
    const isSame = others && homes.join() === others.homes.join();
    others = { at: performance.now(), homes, slots: isSame && others ? others.slots : slotsOf(home, homes) };
    return others.slots;
  }
  await beat(await findProblem());
  let beating: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // A database outage is reported elsewhere. The next heartbeat follows.
    beating = beatIfDue().catch((err) => deps.log.debug({ err }, "no sign of life could be stored"));
  }, problemMs);
  timer.unref();
  return {
    tellRoom(hasRoom) {
      isFull = !hasRoom;
    },
    homeSlots,
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
