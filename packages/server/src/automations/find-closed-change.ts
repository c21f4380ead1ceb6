import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { Queryable } from "../db/pool.ts";
import { changeIdOf } from "./change-id.ts";

const proposalsMax = 20;

/**
 * The pull request in which the automation of this job proposed the same change before, and people closed it
 * unmerged. Null where there is none, where the job is no automation's, and where somebody asked for it by hand.
 */
export async function findClosedChange(db: Queryable, jobId: string, diff: Buffer): Promise<string | null> {
  const { rows } = await db.query<{ url: string; diff: Buffer }>(
    `select pull_request ->> 'url' as url, diff from jobs
     where diff is not null and pull_request ->> 'state' = 'closed' and id <> $1 and id in (
       select job_id from automation_runs where automation_id in (
         select automation_id from automation_runs where job_id = $1 group by automation_id having not bool_or(by_hand)))
     order by ended_at desc limit $2`,
    [jobId, proposalsMax],
  );
  if (rows.length === 0) return null;
  const wanted = changeIdOf(diff.toString("utf8"));
  for (const row of rows) {
    const proposed: Buffer = await promisify(inflate)(row.diff);
    if (changeIdOf(proposed.toString("utf8")) === wanted) return row.url;
  }
  return null;
}
