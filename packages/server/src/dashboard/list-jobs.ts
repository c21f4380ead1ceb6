import type { DashboardJobPage, DashboardJobRow, JobStatus } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";

export interface JobFilter {
  projectId: string | null;
  status: JobStatus | null;
  /** In the prompt or the title; or how the id begins. */
  search: string | null;
  /** These alone, to see how they stand by now; null: all. */
  ids: readonly string[] | null;
  /** The last id of the page before. */
  before: string | null;
  limit: number;
}

const promptShownMax = 300;

/** Jobs of all projects, newest first: ids sort by creation. Archived ones are shown where they are asked for alone. */
export async function listJobs(db: Queryable, filter: JobFilter): Promise<DashboardJobPage> {
  const { rows } = await db.query<DashboardJobRow>(
    `select id, project_id as "projectId", status, phase, title, left(prompt, ${promptShownMax}) as prompt, model,
       failure_code as "failureCode", diff_figures as figures,
       case when pull_request is not null then jsonb_build_object(
         'number', pull_request -> 'number', 'url', pull_request -> 'url',
         'state', pull_request -> 'state', 'draft', pull_request -> 'draft') end as "pullRequest",
       wire_time(created_at) as "createdAt", wire_time(ended_at) as "endedAt"
     from jobs
     where ($1::text is null or project_id = $1)
       and case when $2::text is null then status <> 'archived' or $7::text[] is not null else status = $2 end
       and ($3::text is null or title ilike $3 or prompt ilike $3 or ($4 like 'job\\__%' and starts_with(id, $4)))
       and ($5::text is null or id < $5)
       and ($7::text[] is null or id = any ($7))
     order by id desc limit $6`,
    [
      filter.projectId,
      filter.status,
      filter.search === null ? null : `%${filter.search.replace(/[\\%_]/g, "\\$&")}%`,
      filter.search,
      filter.before,
      filter.limit + 1,
      filter.ids,
    ],
  );
  const jobs = rows.slice(0, filter.limit);
  return { jobs, nextCursor: rows.length > jobs.length ? (jobs.at(-1)?.id ?? null) : null };
}
