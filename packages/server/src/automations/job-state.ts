import type { Queryable } from "../db/pool.ts";
import type { RecordedPullRequest } from "../jobs/record-pull-request.ts";

export interface JobState {
  id: string;
  projectId: string;
  status: "active" | "completed" | "archived" | "failed";
  pullRequest: RecordedPullRequest | null;
}

/** Held until the transaction ends: nobody continues or archives it meanwhile. */
export async function readJobState(db: Queryable, jobId: string): Promise<JobState | null> {
  const { rows } = await db.query<JobState>(
    `select id, project_id as "projectId", status, pull_request as "pullRequest" from jobs
     where id = $1 for no key update`,
    [jobId],
  );
  return rows[0] ?? null;
}

/** The pull request by which the same was asked last, where people closed it unmerged; otherwise null. */
export async function readClosedBefore(
  db: Queryable,
  automationId: string,
  contentHash: Buffer,
): Promise<string | null> {
  const { rows } = await db.query<{ state: string | null; url: string | null }>(
    `select pull_request ->> 'state' as state, pull_request ->> 'url' as url
     from automation_runs runs join jobs on jobs.id = runs.job_id
     where runs.automation_id = $1 and content_hash = $2 and runs.state in ('started', 'continued')
     order by settled_at desc limit 1`,
    [automationId, contentHash],
  );
  return rows[0]?.state === "closed" ? rows[0].url : null;
}
