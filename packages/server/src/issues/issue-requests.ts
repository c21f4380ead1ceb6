import type { Queryable } from "../db/pool.ts";
import { newId } from "../lib/id.ts";

/** A label or a comment on an issue that asks for a job. */
export interface IssueRequest {
  id: string;
  projectId: string;
  number: number;
  author: string;
  createdAt: Date;
  jobId: string | null;
  refusal: string | null;
  answerId: string | null;
  answer: string | null;
  /** Null: there is no job, or it was deleted. */
  job: {
    status: "active" | "completed" | "archived" | "failed";
    pullRequest: { number: number; url: string; state: "open" | "merged" | "closed" } | null;
    failureMessage: string | null;
  } | null;
}

export async function listHandledCauses(
  db: Queryable,
  issue: { projectId: string; number: number },
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ cause: string }>(
    "select cause from issue_requests where project_id = $1 and number = $2",
    [issue.projectId, issue.number],
  );
  return new Set(rows.map(({ cause }) => cause));
}

/** Null: it was handled before, by this or another node. */
export async function insertRequest(
  db: Queryable,
  input: { projectId: string; number: number; cause: string; author: string },
): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `insert into issue_requests (id, project_id, number, cause, author) values ($1, $2, $3, $4, $5)
     on conflict (project_id, number, cause) do nothing returning id`,
    [newId("isr"), input.projectId, input.number, input.cause, input.author],
  );
  return rows[0]?.id ?? null;
}

/** From now on it has something to answer. */
export async function decideRequest(
  db: Queryable,
  id: string,
  outcome: { jobId: string | null; refusal: string | null },
): Promise<void> {
  await db.query(
    "update issue_requests set job_id = $2, refusal = $3, answer_due_at = clock_timestamp() where id = $1",
    [id, outcome.jobId, outcome.refusal],
  );
}

export async function getRequest(db: Queryable, id: string): Promise<IssueRequest | null> {
  const { rows } = await db.query<IssueRequest>(
    `select request.id, request.project_id as "projectId", number, author,
       request.created_at as "createdAt", job_id as "jobId", refusal,
       answer_id as "answerId", answer,
       case when jobs.id is not null then jsonb_build_object('status', jobs.status, 'pullRequest', jobs.pull_request,
         'failureMessage', jobs.failure_message) end as job
     from issue_requests request left join jobs on jobs.id = job_id where request.id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

export async function saveAnswer(
  db: Queryable,
  id: string,
  { answerId, answer }: { answerId: string; answer: string },
): Promise<void> {
  await db.query("update issue_requests set answer_id = $2, answer = $3, answer_due_at = null where id = $1", [
    id,
    answerId,
    answer,
  ]);
}
