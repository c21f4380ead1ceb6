import type { DashboardPullPage, DashboardPullRow } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";

interface PullFilter {
  projectId: string | null;
  state: DashboardPullRow["state"] | null;
  forge: string | null;
  /** Only those after this one of the previous page. */
  after: { at: string; projectId: string; number: number } | null;
}

const rowsPerPage = 50;
const states = ["open", "merged", "closed"] as const;
const cursorForm = /^(\d{1,17})-([0-9A-Za-z_-]{1,64})-(\d{1,9})$/;

/** Validates a listing's query. An empty value counts as absent. */
export function parsePullFilter(query: Record<string, unknown>): PullFilter {
  const text = (name: string) => {
    const given = query[name];
    return typeof given === "string" && given !== "" ? given : null;
  };
  const [state, cursor, project, forge] = [text("state"), text("cursor"), text("project"), text("forge")];
  const known = states.find((each) => each === state) ?? null;
  if (state !== null && known === null) throw invalid(`state must be one of ${states.join(", ")}.`);
  if (project !== null && !/^[0-9A-Za-z_-]{1,64}$/.test(project)) throw invalid("project is not one of this service.");
  if (forge !== null && !/^[a-z]{1,20}$/.test(forge)) throw invalid("forge is not one of this service.");
  const [, at, projectId, number] = (cursor !== null && cursorForm.exec(cursor)) || [];
  if (cursor !== null && at === undefined) throw invalid("cursor is not one that this service gave.");
  const after = at === undefined ? null : { at, projectId: projectId ?? "", number: Number(number) };
  return { projectId: project, state: known, forge, after };
}

/** When a pull request was opened, exactly: several may share a millisecond. */
const micros = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint`;

/**
 * The pull requests of all forges, newest first. Of the local forge's, its own table is right about the state; of
 * another's, the job is, which watches its pull request.
 */
export async function listPulls(db: Queryable, filter: PullFilter): Promise<DashboardPullPage> {
  const values: unknown[] = [];
  const value = (one: unknown) => `$${values.push(one)}`;
  const wanted = [
    filter.projectId !== null && `project_id = ${value(filter.projectId)}`,
    filter.state !== null && `state = ${value(filter.state)}`,
    filter.forge !== null && `project_id in (select id from projects where forge = ${value(filter.forge)})`,
    // The index finds the place; the row comparison decides among those of the same microsecond.
    filter.after !== null &&
      `created_at <= timestamptz 'epoch' + ${value(filter.after.at)} * interval '1 microsecond'
       and (${micros("created_at")}, project_id, number) < (${value(filter.after.at)}::bigint, ${value(filter.after.projectId)}, ${value(filter.after.number)})`,
  ].filter((condition) => condition !== false);
  const newest = `order by created_at desc, project_id desc, number desc limit ${rowsPerPage + 1}`;
  const page = `where ${wanted.join(" and ") || "true"} ${newest}`;
  const { rows } = await db.query<DashboardPullRow & { place: string }>(
    `select project_id as "projectId", number, title, state, draft, url,
       ${micros("created_at")}::text as place, wire_time(created_at) as "createdAt",
       case when url is null then (select count(*)::int from local_pull_request_comments comment
         where comment.project_id = pull.project_id and comment.number = pull.number) else 0 end as comments
     from (
       (select * from (
         select project_id, number, title, state, draft, null as url, created_at
         from local_pull_requests) local ${page})
       union all
       (select * from (
         select project_id, (pull_request ->> 'number')::int as number, coalesce(title, left(prompt, 300)) as title,
           pull_request ->> 'state' as state, coalesce((pull_request ->> 'draft')::boolean, false) as draft,
           pull_request ->> 'url' as url, created_at
         from jobs where pull_request is not null
           -- Asked once: without such a project, the index would be read to its end for rows that do not exist.
           and exists (select from projects where forge <> 'local')
           and project_id in (select id from projects where forge <> 'local')) elsewhere ${page})
     ) pull ${newest}`,
    values,
  );
  const pulls = rows.slice(0, rowsPerPage);
  const last = rows.length > pulls.length ? pulls.at(-1) : undefined;
  return {
    pulls: pulls.map(({ place: _place, ...pull }) => pull),
    nextCursor: last ? `${last.place}-${last.projectId}-${last.number}` : null,
  };
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
