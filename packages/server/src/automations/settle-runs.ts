import type { Queryable } from "../db/pool.ts";
import type { Automation, WaitingRun } from "./automation.ts";

/** What becomes of the runs that waited together. */
export type Settlement =
  | { state: "waiting"; words: string; retryInMs: number }
  | {
      state: "started" | "continued" | "skipped";
      words: string;
      jobId: string | null;
      contentHash: Buffer;
    };

/** The last run stands for all of them; those before it say so. */
export async function settleRuns(
  db: Queryable,
  automation: Automation,
  runs: readonly WaitingRun[],
  settlement: Settlement,
): Promise<void> {
  const ids = runs.map((run) => run.id);
  if (settlement.state === "waiting") {
    await db.query(
      `update automation_runs set words = $2, try_at = clock_timestamp() + make_interval(secs => $3)
       where id = any ($1)`,
      [ids, settlement.words, settlement.retryInMs / 1000],
    );
    return;
  }
  const { state, words, jobId, contentHash } = settlement;
  await db.query(
    `update automation_runs set settled_at = clock_timestamp(), job_id = $3, content_hash = $4,
       state = case when id = $2 then $5 else 'merged' end,
       words = case when id = $2 then $6 else 'Taken together with a later event. ' || $6 end
     where id = any ($1)`,
    [ids, ids.at(-1), jobId, contentHash, state, words],
  );
  if (state === "started") {
    await db.query("update automations set job_id = $2 where id = $1", [automation.id, jobId]);
  }
}
