import type { DashboardJobPage, DashboardJobRow, JobStatus } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";

export interface JobFilter {
  projectId: string | null;
  status: JobStatus | null;
  /** Text in the prompt or title, or the start of the id. */
  search: string | null;
  /** Only these jobs, to update their state. Null: all. */
  ids: readonly string[] | null;
  /** The last id of the previous page. */
  before: string | null;
  limit: number;
}

const promptShownMax = 300;
/** Without an index, a search scans this many jobs per page. The next page continues there. */
const scannedMax = 20_000;
/**
 * Common words are found among the newest jobs. The index is used only for rare ones, because it returns all matches at
 * once. A word that the very newest do not have is rare enough.
 */
const newestMaxes = [100, 1_000];
/** Shorter words have no trigram. */
const indexedLengthMin = 3;

/** Jobs of all projects, newest first (ids sort by creation). Archived jobs are included only on request. */
export async function listJobs(db: Queryable, filter: JobFilter): Promise<DashboardJobPage> {
  const { search, ids, limit } = filter;
  const values: unknown[] = [];
  const value = (one: unknown) => `$${values.push(one)}`;
  const wanted = [
    filter.projectId !== null && `project_id = ${value(filter.projectId)}`,
    filter.status !== null && `status = ${value(filter.status)}`,
    filter.status === null && ids === null && "status <> 'archived'",
    filter.before !== null && `id < ${value(filter.before)}`,
    ids !== null && `id = any (${value(ids)})`,
  ].filter((condition) => condition !== false);
  const all = `jobs where ${wanted.join(" and ") || "true"}`;
  const allValues = [...values];
  if (search === null) return pageOf(await readRows(db, all, values, limit), limit);

  const text = hasText(search, value);
  const among = (jobsMax: number) => `(select * from ${all} order by id desc limit ${jobsMax}) jobs where ${text}`;
  if (!(await isIndexed(db, search))) {
    const page = pageOf(await readRows(db, among(scannedMax), values, limit), limit);
    return { ...page, nextCursor: page.nextCursor ?? (await lastScanned(db, all, allValues)) };
  }
  for (const newestMax of newestMaxes) {
    const newest = pageOf(await readRows(db, among(newestMax), values, limit), limit);
    if (newest.nextCursor !== null) return newest;
    if (newest.jobs.length === 0) break;
  }
  // Materialized: otherwise the planner scans all jobs by id instead of sorting the matches.
  const hits = `with hits as materialized (select id from jobs where ${text})`;
  return pageOf(await readRows(db, `${all} and id in (select id from hits)`, values, limit, hits), limit);
}

/** A question, a change that must be approved, a plan; or nothing to publish because Emend refused it. */
const attention = `case
  when status = 'active' and waiting_since is not null and waiting_for in ('answer', 'approval') and lease is null then 'waiting'
  when status = 'completed' and failure_code is null and plan and not exists (select from job_messages where job_id = jobs.id) then 'waiting'
  when status = 'completed' and failure_code is null and refused is not null then 'refused' end`;

async function readRows(
  db: Queryable,
  from: string,
  values: readonly unknown[],
  limit: number,
  hits = "",
): Promise<readonly DashboardJobRow[]> {
  const { rows } = await db.query<DashboardJobRow>(
    `${hits} select id, project_id as "projectId", status, phase, title, left(prompt, ${promptShownMax}) as prompt, model,
       failure_code as "failureCode", ${attention} as attention, diff_figures as figures,
       case when pull_request is not null then jsonb_build_object(
         'number', pull_request -> 'number', 'url', pull_request -> 'url',
         'state', pull_request -> 'state', 'draft', pull_request -> 'draft') end as "pullRequest",
       wire_time(created_at) as "createdAt", wire_time(ended_at) as "endedAt"
     from ${from} order by id desc limit $${values.length + 1}`,
    [...values, limit + 1],
  );
  return rows;
}

function pageOf(rows: readonly DashboardJobRow[], limit: number): DashboardJobPage {
  const jobs = rows.slice(0, limit);
  return { jobs, nextCursor: rows.length > jobs.length ? (jobs.at(-1)?.id ?? null) : null };
}

/** In the title, in the first thousand characters of the prompt, or at the start of the id. */
function hasText(search: string, value: (one: unknown) => string): string {
  const text = `searched_text(title, prompt) ilike ${value(`%${search.replace(/[\\%_]/g, "\\$&")}%`)}`;
  if (!/^job_[0-9a-z]/.test(search)) return text;
  // A range, because only that can use the index in every collation.
  const prefix = value(search);
  return `(${text} or (id >= ${prefix} and id <= ${value(search + "z".repeat(40))} and starts_with(id, ${prefix})))`;
}

async function isIndexed(db: Queryable, search: string): Promise<boolean> {
  if (search.length < indexedLengthMin) return false;
  const { rows } = await db.query<{ found: boolean }>("select to_regclass('jobs_searched') is not null as found");
  return rows[0]?.found === true;
}

/** Null if the search has reached the oldest job. */
async function lastScanned(db: Queryable, all: string, values: unknown[]): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `select id from ${all} order by id desc offset ${scannedMax - 1} limit 1`,
    values,
  );
  return rows[0]?.id ?? null;
}
