import type { DashboardPull } from "@emend/contract";
import type { Queryable } from "../../db/pool.ts";
import { ask, type Repository } from "./repository.ts";

interface PullName {
  projectId: string;
  number: number;
}

/** A row of local_reviews, or a reviewer of the project's settings who has not said anything yet. */
interface Review {
  reviewer: string;
  name: string;
  verdict: "approved" | "changes_requested" | null;
  commit: string | null;
  at: string | null;
}

export interface Reviews {
  reviews: readonly Review[];
  /** How many approvals of the newest commit a merge needs. */
  approvalsMin: number;
  /** The name of the status that the project's own check must have set. Null: it does not block. */
  requiredStatus: string | null;
}

/** Those of people who may write now: somebody who was demoted or removed since neither approves nor blocks. */
export async function readReviews(db: Queryable, { projectId, number }: PullName): Promise<Reviews> {
  const { rows } = await db.query<Reviews>(
    `with project as (select settings from projects where id = $1),
     wanted as (
       select distinct lower(trim(reviewer)) as reviewer
       from project, jsonb_array_elements_text(coalesce(settings #> '{forge,reviewers}', '[]')) reviewer
     ),
     said as (select * from local_reviews where project_id = $1 and number = $2)
     select coalesce((select (settings ->> 'approvalsMin')::int from project), 0) as "approvalsMin",
       (select coalesce(settings #>> '{gate,name}', 'emend') from project
        where settings #>> '{gate,docs}' = 'failing') as "requiredStatus",
       (select coalesce(jsonb_agg(jsonb_build_object('reviewer', coalesce(email, reviewer), 'name', coalesce(nullif(name, ''), email, reviewer),
          'verdict', verdict, 'commit', commit_id, 'at', wire_time(updated_at)) order by reviewer), '[]')
        from said full join wanted using (reviewer) left join users on lower(email) = reviewer
        where reviewer = 'console' or role <> 'viewer') as reviews`,
    [projectId, number],
  );
  return rows[0] ?? { reviews: [], approvalsMin: 0, requiredStatus: null };
}

/** An approval is one of the commit that was read. A request for changes stays until its author says otherwise. */
export function showReviews({ reviews }: Reviews, head: string): DashboardPull["reviews"] {
  return reviews.map(({ reviewer, name, verdict, commit, at }) => ({
    reviewer,
    name,
    state: verdict ?? "requested",
    isCurrent: commit === head,
    at,
  }));
}

export async function saveReview(
  db: Queryable,
  { projectId, number }: PullName,
  review: { reviewer: string; verdict: "approved" | "changes_requested"; head: string },
): Promise<void> {
  await db.query(
    `insert into local_reviews (project_id, number, reviewer, verdict, commit_id) values ($1, $2, lower($3), $4, $5)
     on conflict (project_id, number, reviewer) do update set verdict = excluded.verdict, commit_id = excluded.commit_id,
       updated_at = clock_timestamp()`,
    [projectId, number, review.reviewer, review.verdict, review.head],
  );
}

const reviewersMax = 50;

/**
 * False if this person cannot review, or there are too many. Who reviewed already is asked again, unless once is enough. The
 * person gets an email, if they want any.
 */
export async function askReviewer(
  db: Queryable,
  { projectId, number }: PullName,
  reviewer: string,
  { isOnce = false } = {},
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with asked as (
       insert into local_reviews (project_id, number, reviewer)
       select $1, $2, lower(email) from users where lower(email) = lower($3) and role <> 'viewer'
         and (select count(*) from local_reviews where project_id = $1 and number = $2) < ${reviewersMax}
       on conflict (project_id, number, reviewer) do update set verdict = null, commit_id = null,
         updated_at = clock_timestamp() where not $4
       returning reviewer
     ), mail as (
       insert into job_emails (id, user_id, project_id, number)
       select 'eml_' || gen_random_uuid(), id, $1, $2 from asked join users on lower(email) = reviewer where emails_jobs
       returning id
     )
     select case when id is not null then ask_task('send_email', id)::text end from asked left join mail on true`,
    [projectId, number, reviewer, isOnce],
  );
  return rowCount === 1;
}

/** False if there is none. */
export async function removeReview(db: Queryable, { projectId, number }: PullName, reviewer: string): Promise<boolean> {
  const { rowCount } = await db.query(
    "delete from local_reviews where project_id = $1 and number = $2 and reviewer = lower($3)",
    [projectId, number, reviewer],
  );
  return rowCount === 1;
}

/** The paths that this person has viewed as they are now. */
export async function listViewed(
  db: Queryable,
  { projectId, number }: PullName,
  viewer: string,
  files: readonly { path: string; oid: string }[],
): Promise<readonly string[]> {
  const { rows } = await db.query<{ path: string }>(
    `select path from viewed_files join unnest($4::text[], $5::text[]) as now (path, content) using (path, content)
     where project_id = $1 and number = $2 and viewer = lower($3)`,
    [projectId, number, viewer, files.map(({ path }) => path), files.map(({ oid }) => contentOf(oid))],
  );
  return rows.map(({ path }) => path);
}

/** Git lists a deleted file with zeros. */
function contentOf(oid: string): string {
  return /^0+$/.test(oid) ? "" : oid;
}

const viewedMax = 10_000;

/** As the file is at `head`. */
export async function setViewed(
  deps: { db: Queryable; repository: Repository },
  { projectId, number }: PullName,
  { viewer, path, head, isViewed }: { viewer: string; path: string; head: string; isViewed: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { db, repository } = deps;
  if (!isViewed) {
    await db.query(
      "delete from viewed_files where project_id = $1 and number = $2 and viewer = lower($3) and path = $4",
      [projectId, number, viewer, path],
    );
    return;
  }
  const { code, output } = await ask(repository, ["rev-parse", "--verify", "--quiet", `${head}:${path}`], signal);
  await db.query(
    `insert into viewed_files (project_id, number, viewer, path, content) select $1, $2, lower($3), $4, $5
     where (select count(*) from viewed_files where project_id = $1 and number = $2 and viewer = lower($3)) < ${viewedMax}
     on conflict (project_id, number, viewer, path) do update set content = excluded.content`,
    [projectId, number, viewer, path, code === 0 ? output.trim() : ""],
  );
}
