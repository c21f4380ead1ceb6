import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import { toJsonb } from "../db/to-jsonb.ts";
import { type RecordedPullRequest, toPullRequest } from "./pull-requests.ts";

/** A job that was stopped while it waited for its forge, and may have opened its pull request before. */
export interface UnsurePublication {
  jobId: string;
  projectId: string;
  branch: string;
  baseBranch: string | null;
  createdAt: Date;
}

/** After this, a forge that stays unavailable is not asked any more. */
const daysMax = 7;
const words =
  "The pull request was opened before the job was stopped, but the forge's answer was lost. Close it on the forge if you do not want it.";

/** Claims a due one and schedules the next attempt, in case the forge is still unavailable. */
export async function claimUnsurePublication(
  db: Queryable,
  everyMs: number,
  except: readonly string[] = [],
): Promise<UnsurePublication | null> {
  const { rows } = await db.query<UnsurePublication>(
    `update jobs set pull_request_look_at = clock_timestamp() + greatest(
       make_interval(secs => $1), (clock_timestamp() - ended_at) / 20
     )
     where id = (
       select id from jobs
       where publication_unsure and coalesce(pull_request_look_at, '-infinity') <= clock_timestamp()
         and ended_at > clock_timestamp() - interval '${daysMax} days' and project_id <> all ($2)
       order by pull_request_look_at nulls first limit 1 for update skip locked
     )
     returning id as "jobId", project_id as "projectId", branch, base_branch as "baseBranch", created_at as "createdAt"`,
    [everyMs / 1000, except],
  );
  return rows[0] ?? null;
}

/**
 * The forge answered: there is no pull request, or one that was not reported yet. Records it unless the job was
 * restarted meanwhile.
 */
export async function settleUnsurePublication(
  db: Queryable,
  jobId: string,
  found: RecordedPullRequest | null,
): Promise<void> {
  const isFound = found !== null;
  await db.query(
    `with changed as (
       update jobs set publication_unsure = false, pull_request_look_at = null, updated_at = clock_timestamp(),
         pull_request = coalesce($2::jsonb, pull_request), pr_link = coalesce($2::jsonb ->> 'url', pr_link),
         pushed = pushed or $4, ref = case when $4 then branch else ref end,
         notices = case when $4 then notices || to_jsonb($3::text) else notices end,
         event_seq = event_seq + $4::int
       where id = $1 and publication_unsure
       returning id, event_seq, pull_request
     ), told as (
       insert into job_events (job_id, seq, kind, data) select id, event_seq, 'pull_request', pull_request from changed where $4
     )
     select pg_notify('${channels.jobChanged}', id) from changed`,
    [jobId, isFound ? toJsonb(toPullRequest(found)) : null, words, isFound],
  );
}
