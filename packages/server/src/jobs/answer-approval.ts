import { channels } from "../db/listener.ts";
import type { Client, Pool } from "../db/pool.ts";
import { type Actor, inTransactionAs } from "../db/transaction.ts";
import type { JobReader } from "./read/job-reader.ts";
import { hadCompleted } from "./run/end-run.ts";
import { isJobId, toWireJob, type WireJob, type WireRow, wireColumns } from "./wire-job.ts";

/** SQL, over `jobs`: a finished change waits for a person's approval, without a worker. */
export const waitsForApproval =
  "(status = 'active' and waiting_for = 'approval' and waiting_since is not null and lease is null)";

/** SQL, over `jobs`: an approval publishes its change, also if nobody answered in time. */
export const isApprovable = `(${waitsForApproval} or (status in ('failed', 'completed') and failure_code = 'policy_denied'
  and contents_dropped_at is null and (select constructs is not null and decision is null from job_questions
    where job_id = jobs.id order by id desc limit 1)))`;

export type ApprovalOutcome =
  | { kind: "done"; job: WireJob }
  | { kind: "unknown_job" }
  /** Why there is nothing to answer. `by`: who answered before. */
  | { kind: "refused"; because: ApprovalRefusal; by?: string };

export type ApprovalRefusal = "not_asked" | "approved" | "declined" | "ended" | "archived" | "contents_dropped";

interface Asked {
  status: "active" | "completed" | "archived" | "failed";
  failure_code: string | null;
  is_dropped: boolean;
  question_id: string | null;
  ids: readonly string[];
  keys: readonly (string | null)[];
  decision: "approved" | "declined" | "withdrawn" | null;
  decided_by: string | null;
}

export interface ApprovalAnswer {
  answer: "approve" | "decline";
  /** Allow the same constructs on the project's site from now on. */
  remember: boolean;
  /** `user/…` or `key/…`. */
  by: string;
  actor: Actor;
}

/**
 * A person's answer to the question about unknown constructs. Of concurrent answers the first counts. Approving also
 * publishes a change whose question nobody answered in time.
 */
export async function answerApproval(
  deps: { pool: Pool; reader: Pick<JobReader, "forget"> },
  job: { id: string; projectId: string },
  given: ApprovalAnswer,
): Promise<ApprovalOutcome> {
  if (!isJobId(job.id)) return { kind: "unknown_job" };
  const outcome = await inTransactionAs(deps.pool, given.actor, async (client): Promise<ApprovalOutcome> => {
    // Two statements: the second one sees what was committed while the first waited for the lock.
    await client.query("select 1 from jobs where id = $1 and project_id = $2 for no key update", [
      job.id,
      job.projectId,
    ]);
    const found = await findAsked(client, job);
    if (!found) return { kind: "unknown_job" };
    const because = refusalOf(found, given.answer);
    if (because) return { kind: "refused", because, ...(found.decided_by !== null && { by: found.decided_by }) };
    await client.query(
      "update job_questions set decision = $2, decided_by = $3, decided_at = clock_timestamp() where id = $1",
      [found.question_id, given.answer === "approve" ? "approved" : "declined", given.by],
    );
    const row =
      given.answer === "approve" ? await approve(client, job, found, given) : await decline(client, job, given);
    return { kind: "done", job: toWireJob(row) };
  });
  deps.reader.forget(job.id);
  return outcome;
}

async function findAsked(client: Client, job: { id: string; projectId: string }): Promise<Asked | undefined> {
  const { rows } = await client.query<Asked>(
    `select status, failure_code, contents_dropped_at is not null as is_dropped, asked.id as question_id, decision, decided_by,
       array(select one ->> 'id' from jsonb_array_elements(constructs) one) as ids,
       array(select one ->> 'key' from jsonb_array_elements(constructs) one) as keys
     from jobs left join lateral (
       select * from job_questions where job_id = jobs.id and constructs is not null order by id desc limit 1) asked on true
     where jobs.id = $1 and project_id = $2`,
    [job.id, job.projectId],
  );
  return rows[0];
}

function refusalOf(found: Asked, answer: ApprovalAnswer["answer"]): ApprovalRefusal | null {
  const { status, decision, failure_code, question_id } = found;
  if (status === "archived") return "archived";
  if (question_id === null || decision === "withdrawn") return status === "active" ? "not_asked" : "ended";
  if (decision !== null) return decision;
  if (status === "active") return null;
  // Only time has ended it.
  if (answer === "decline" || failure_code !== "policy_denied") return "ended";
  return found.is_dropped ? "contents_dropped" : null;
}

async function approve(
  client: Client,
  job: { id: string; projectId: string },
  { ids, keys }: Asked,
  { by, remember }: ApprovalAnswer,
): Promise<WireRow> {
  if (remember) {
    await client.query(
      `insert into allowed_constructs (project_id, key, allowed_by, job_id)
       select $1, key, $3, $4 from unnest($2::text[]) key where key is not null on conflict do nothing`,
      [job.projectId, [...new Set(keys)], by, job.id],
    );
  }
  const { rows } = await client.query<WireRow>(
    `with changed as (
       update jobs set approved = coalesce(approved, '[]') || to_jsonb($2::text[]), status = 'active', phase = 'queued',
         ref = branch, failure_code = null, failure_message = null, ended_at = null, waiting_since = null,
         -- A run that was about to end it for want of an answer loses its lease.
         lease = null, lease_until = null, crashes = 0, crashes_blamed = 0, retries = 0,
         run_after = greatest(clock_timestamp(), editing_until), event_seq = event_seq + 1, updated_at = clock_timestamp()
       where id = $1 returning *
     ), told as (
       insert into job_events (job_id, seq, kind, data)
       select id, event_seq, 'job.approved', jsonb_build_object('by', $3::text, 'remember', $4::boolean) from changed
     )
     select ${wireColumns}, pg_notify('${channels.jobChanged}', id), pg_notify('${channels.jobDue}', project_id) from changed`,
    [job.id, ids, by, remember],
  );
  return rows[0] as WireRow;
}

async function decline(client: Client, job: { id: string }, { by, actor }: ApprovalAnswer): Promise<WireRow> {
  const who = by.startsWith("user/") ? by.slice("user/".length) : `The API key ${actor.name.replace(/^key\//, "")}`;
  const { rows } = await client.query<WireRow>(
    `with changed as (
       update jobs set status = case when ${hadCompleted} then 'completed' else 'failed' end, failure_code = 'policy_denied',
         failure_message = $2, pr_link = pull_request ->> 'url', ref = case when pushed then branch end,
         ended_at = clock_timestamp(), waiting_since = null, lease = null, lease_until = null,
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       where id = $1 returning *
     ), told as (
       insert into job_events (job_id, seq, kind, data)
       select id, event_seq, status, jsonb_strip_nulls(jsonb_build_object(
         'prLink', pr_link, 'code', failure_code, 'message', failure_message)) from changed
     )
     select ${wireColumns}, pg_notify('${channels.jobChanged}', id), pg_notify('${channels.stopAsked}', id) from changed`,
    [job.id, `${who} decided not to publish this change. Send a message to the job to change it.`],
  );
  return rows[0] as WireRow;
}
