import type { DashboardInbox, DashboardInboxItem } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";
import { waitsForApproval } from "../jobs/answer-approval.ts";

const shownMax = 100;
/** Of each kind. */
const readMax = shownMax + 1;
const automationDays = 30;
const columns = "id, kind, project_id, title, words, at, job_id, number, url, path";

/**
 * What waits for a person. Each part is bounded by an index of what is open, so a long history costs nothing. `$1` is the
 * person's address in lower case.
 */
const parts = [
  // A job that a person started asks that person. Anybody can answer the others.
  `select 'question/' || jobs.id || '/' || asked.id, 'question', project_id, coalesce(title, left(prompt, 300)), question,
     asked_at, jobs.id, null::int, null, null
   from jobs join lateral (select * from job_questions where job_id = jobs.id order by id desc limit 1) asked on true
   where status = 'active' and waiting_since is not null and waiting_for = 'answer'
     and (created_by not like 'user/%' or lower(created_by) = 'user/' || $1)`,
  // Whoever may write can approve, whoever started the job.
  `select 'approval/' || jobs.id || '/' || asked.id, 'approval', project_id, coalesce(title, left(prompt, 300)), question,
     asked_at, jobs.id, null::int, null, null
   from jobs join lateral (select * from job_questions where job_id = jobs.id and constructs is not null order by id desc limit 1) asked on true
   where ${waitsForApproval}
     and (lower(created_by) = 'user/' || $1 or exists (select from users where lower(email) = $1 and role <> 'viewer'))`,
  // Made, and neither approved nor answered. Anybody can approve the plans of others than people.
  `select 'plan/' || jobs.id, 'plan', project_id, coalesce(title, left(prompt, 300)), 'Read its plan, then approve or change it.',
     coalesce(ended_at, created_at), id, null::int, null, null
   from jobs
   where plan and status = 'completed' and not exists (select from job_messages where job_id = jobs.id)
     and (created_by not like 'user/%' or lower(created_by) = 'user/' || $1)`,
  // Asked for by somebody or by the project's settings, or reviewed at an earlier commit. The settings are read once for each
  // project, and not for each of its pull requests.
  `with wanting as materialized (
     select id from projects where exists (
       select from jsonb_array_elements_text(coalesce(settings #> '{forge,reviewers}', '[]')) wanted
       where lower(trim(wanted)) = $1)),
   asked as (
     select project_id, number from local_reviews where reviewer = $1
     union select project_id, number from wanting join local_pull_requests on project_id = wanting.id where state = 'open')
   select 'review/' || pull.project_id || '/' || pull.number || '/' || head_commit, 'review', pull.project_id, title,
     case review.verdict when 'approved' then 'New commits since your approval.'
       when 'changes_requested' then 'New commits since you requested changes.' else 'Waits for your review.' end,
     pull.updated_at, null, pull.number, null, null
   from asked join local_pull_requests pull on pull.project_id = asked.project_id and pull.number = asked.number
     left join local_reviews review on review.project_id = pull.project_id and review.number = pull.number and reviewer = $1
   where state = 'open' and not draft and commit_id is distinct from head_commit`,
  `select 'pull/' || jobs.id || '/' || coalesce(jobs.commit_id, ''), 'pull', jobs.project_id, coalesce(title, left(prompt, 300)),
     case when against.names is not null then against.names || ' requested changes.'
       when (pull_request ->> 'draft')::boolean then 'A draft: it needs a closer look.' else 'Review it, then merge it.' end,
     coalesce(ended_at, jobs.created_at), jobs.id, case when forge = 'local' then (pull_request ->> 'number')::int end,
     case when forge <> 'local' then pull_request ->> 'url' end, null
   from jobs join projects on projects.id = jobs.project_id
     left join lateral (
       select string_agg(coalesce(nullif(name, ''), reviewer), ', ') as names from local_reviews left join users on lower(email) = reviewer
       where forge = 'local' and local_reviews.project_id = jobs.project_id and number = (pull_request ->> 'number')::int
         and verdict = 'changes_requested') against on true
   where created_by = $2 and status in ('completed', 'failed') and pull_request ->> 'state' = 'open'`,
  `select 'automation/' || run.id, 'automation', automations.project_id, automations.name,
     coalesce(jobs.failure_message, 'The last run failed.'), run.created_at, run.job_id, null::int, null, null
   from automations join lateral (
       select * from automation_runs where automation_id = automations.id and job_id is not null order by created_at desc, id desc limit 1
     ) run on true join jobs on jobs.id = run.job_id
   where paused_at is null and jobs.status = 'failed' and jobs.failure_code is distinct from 'cancelled'
     and run.created_at > clock_timestamp() - interval '${automationDays} days'`,
  `select 'drift/' || project_id || '/' || md5((finding ->> 'path') || string_agg(finding ->> 'message', chr(10) order by finding ->> 'message')),
     'drift', project_id, finding ->> 'path',
     case count(*) when 1 then min(finding ->> 'message') else count(*) || ' places no longer agree with the code.' end,
     max(checked_at), null, null::int, null, finding ->> 'path'
   from site_checks, jsonb_array_elements(findings) finding
   where findings is not null and finding ->> 'check' in ('stale-reference', 'changed-claim', 'gone-claim')
   group by project_id, finding ->> 'path'`,
];

interface Row extends Omit<DashboardInboxItem, "projectId" | "jobId"> {
  project_id: string;
  job_id: string | null;
}

export async function readInbox(db: Queryable, person: string): Promise<DashboardInbox> {
  const all = parts
    .map(
      (part) =>
        `(select * from (${part}) part (${columns}) where ${isKept("part.id")} order by at desc limit ${readMax})`,
    )
    .join(" union all ");
  const { rows } = await db.query<Row>(
    `select id, kind, project_id, title, left(words, 500) as words, wire_time(at) as at, job_id, number, url, path
     from (${all}) items
     order by array_position('{question,approval,plan,review,pull,automation,drift}'::text[], kind), items.at desc, id limit ${readMax}`,
    [person.toLowerCase(), `user/${person}`],
  );
  const found = rows.map(({ project_id, job_id, ...item }) => ({ ...item, projectId: project_id, jobId: job_id }));
  const placeOf = ({ projectId, number }: DashboardInboxItem) => `${projectId} ${number}`;
  const reviews = new Set(found.filter(({ kind }) => kind === "review").map(placeOf));
  const items = found.filter((item) => item.kind !== "pull" || !reviews.has(placeOf(item)));
  return { items: items.slice(0, shownMax), hasMore: items.length > shownMax };
}

function isKept(id: string): string {
  return `not exists (select from inbox_dismissals where person = $1 and item = ${id})`;
}

/** Until there is something new about it. */
export async function dismissItem(db: Queryable, person: string, item: string): Promise<void> {
  await db.query("insert into inbox_dismissals (person, item) values (lower($1), $2) on conflict do nothing", [
    person,
    item,
  ]);
}
