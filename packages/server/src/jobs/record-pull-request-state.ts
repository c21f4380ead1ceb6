import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import type { RecordedPullRequest } from "./record-pull-request.ts";

/** What people did to a pull request since the job ended: told once, and no lease is needed since no run writes it. */
export async function recordPullRequestState(
  db: Queryable,
  jobId: string,
  now: Pick<RecordedPullRequest, "state" | "draft">,
): Promise<void> {
  await db.query(
    `with changed as (
       update jobs set pull_request = pull_request || jsonb_build_object('state', $2::text, 'draft', $3::boolean),
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       where id = $1 and (pull_request ->> 'state', (pull_request ->> 'draft')::boolean) is distinct from ($2, $3)
       returning id, event_seq, pull_request
     ), told as (
       insert into job_events (job_id, seq, kind, data) select id, event_seq, 'pull_request', pull_request from changed
     )
     select pg_notify('${channels.jobChanged}', id) from changed`,
    [jobId, now.state, now.draft],
  );
}
