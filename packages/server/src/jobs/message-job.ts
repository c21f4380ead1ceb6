import { hash } from "node:crypto";
import { channels } from "../db/listener.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { type BudgetRefusal, findBudgetRefusal } from "./budget.ts";
import { type QuotaRule, type QuotaState, quotaState } from "./create-job.ts";
import type { RecordedPullRequest } from "./pull-requests.ts";
import type { JobReader } from "./read/job-reader.ts";
import { quotaFilledMeanwhile, redactWithinQuota } from "./redact-prompt.ts";
import { isJobId, toWireJob, type WireJob, type WireRow, wireColumns, wireJobOf } from "./wire-job.ts";

/** Per project, for all senders. */
export const messageQuota: QuotaRule = { usesMax: 100, windowMs: 3_600_000 };

export interface MessageJobInput {
  id: string;
  projectId: string;
  prompt: string;
  createdBy: string;
  /** The same key with the same prompt is one message, for 24 hours. */
  idempotencyKey?: string | null;
}

export type MessageOutcome =
  | { kind: "accepted"; job: WireJob; quota: QuotaState }
  /** The key was used before: this is the first response again. */
  | { kind: "replayed"; job: WireJob; quota: QuotaState }
  /** The idempotency key was used with another body, for another job or for a create. */
  | { kind: "conflict" }
  | { kind: "unknown_job" }
  /** Why the job accepts no message now. */
  | { kind: "refused"; because: "active" | "archived" | "merged" | "closed" }
  | { kind: "limited"; quota: QuotaState }
  | { kind: "over_budget"; refusal: BudgetRefusal };

export interface MessageJobDeps {
  pool: Pool;
  reader: JobReader;
  /** The pull request's current state on its forge. Null if the forge does not say. */
  pullRequestState(projectId: string, number: number): Promise<RecordedPullRequest["state"] | null>;
}

/**
 * Accepts a follow-up: the job becomes active again and continues the conversation on the current branch. What its last
 * round was about to publish or report is dropped; its pull request stays.
 */
export async function messageJob(
  deps: MessageJobDeps,
  quota: QuotaRule,
  input: MessageJobInput,
): Promise<MessageOutcome> {
  if (!isJobId(input.id)) return { kind: "unknown_job" };
  // Checked before the job's state, which the first message with this key has changed.
  const first = await findFirstAnswer(deps.pool, quota, input);
  if (first) return first;
  const found = await findJob(deps.pool, input);
  const early = refusalOf(found);
  // The first message with this key may have been accepted since the check above, and made the job active.
  if (early) return (await findFirstAnswer(deps.pool, quota, input)) ?? early;
  // Before the transaction: none is open while waiting for a forge.
  const number = found?.pull_request?.number;
  const state = number === undefined ? null : await deps.pullRequestState(input.projectId, number);
  if (state === "merged" || state === "closed") return { kind: "refused", because: state };
  const use = { projectId: input.projectId, kind: "message", ...quota } as const;
  const kept = await redactWithinQuota(deps.pool, use, input.prompt);
  const outcome = await inTransaction(deps.pool, async (client) => {
    if (!input.idempotencyKey) return acceptMessage(client, quota, { ...input, kept });
    // The lock of creates and quotas: of concurrent requests with one key, the first is stored before the next is
    // checked. The job's own lock is taken first, as in every message: two in the other order would deadlock.
    await findJob(client, input, "for no key update");
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [input.projectId]);
    const earlier = await findFirstAnswer(client, quota, input);
    if (earlier) return earlier;
    const accepted = await acceptMessage(client, quota, { ...input, kept });
    if (accepted.kind === "accepted") await storeFirstAnswer(client, input, accepted.job);
    return accepted;
  });
  deps.reader.forget(input.id);
  return outcome;
}

function bodyHash(input: MessageJobInput): Buffer {
  return hash("sha256", JSON.stringify(["message", input.id, input.prompt]), "buffer");
}

/** The first response for this key, or null. Messages and creates share a project's keys. */
async function findFirstAnswer(
  db: Queryable,
  quota: QuotaRule,
  input: MessageJobInput,
): Promise<Extract<MessageOutcome, { kind: "replayed" | "conflict" }> | null> {
  if (!input.idempotencyKey) return null;
  const { rows } = await db.query<{ body_hash: Buffer; response: string; used: number; at: Date; frees_at: Date }>(
    `select body_hash, response, now.at, used, coalesce(oldest, now.at) + make_interval(secs => $3) as frees_at
     from idempotency_keys, (select clock_timestamp() as at) now, lateral (
       select count(*)::int as used, min(used_at) as oldest from quota_uses
       where project_id = $1 and kind = 'message' and used_at > now.at - make_interval(secs => $3)) uses
     where project_id = $1 and key = $2 and created_at > now.at - interval '24 hours'`,
    [input.projectId, input.idempotencyKey, quota.windowMs / 1000],
  );
  const [first] = rows;
  if (!first) return null;
  if (!first.body_hash.equals(bodyHash(input))) return { kind: "conflict" };
  const job = wireJobOf({ projectId: input.projectId, body: first.response, isActive: true });
  return { kind: "replayed", job, quota: quotaState(quota, first) };
}

async function storeFirstAnswer(client: Queryable, input: MessageJobInput, job: WireJob): Promise<void> {
  await client.query(
    `insert into idempotency_keys (project_id, key, body_hash, job_id, response) values ($1, $2, $3, $4, $5)
     on conflict (project_id, key) do update set body_hash = excluded.body_hash, job_id = excluded.job_id,
       response = excluded.response, created_at = excluded.created_at`,
    [input.projectId, input.idempotencyKey, bodyHash(input), input.id, job.body],
  );
}

/** The last round left a commit on the branch: it did not fail, or a limit kept its work. */
const isPublished =
  "(commit_id is not null and (failure_code is null or failure_code is not distinct from limit_reached))";
/** Its publication failed and the next round continues its work, so the next pull request describes it too. */
const isTakenOver = `(commit_id is not null and not ${isPublished} and not continues_branch)`;
/** How much of a round's summary is kept for the pull request's text. */
const summaryKeptMax = 4_000;

interface JobRow {
  status: "active" | "completed" | "archived" | "failed";
  pull_request: RecordedPullRequest | null;
}

async function findJob(
  db: Pick<Pool, "query">,
  job: { id: string; projectId: string },
  lock = "",
): Promise<JobRow | undefined> {
  const { rows } = await db.query<JobRow>(
    `select status, pull_request from jobs where id = $1 and project_id = $2 ${lock}`,
    [job.id, job.projectId],
  );
  return rows[0];
}

function refusalOf(job: JobRow | undefined): Extract<MessageOutcome, { kind: "unknown_job" | "refused" }> | null {
  if (!job) return { kind: "unknown_job" };
  if (job.status === "active" || job.status === "archived") return { kind: "refused", because: job.status };
  const state = job.pull_request?.state;
  return state === "merged" || state === "closed" ? { kind: "refused", because: state } : null;
}

/**
 * The part inside a transaction, for callers that store more with it. `kept`: the prompt without credentials, scanned
 * before, because no transaction waits for the scan. Null if the quota had no room.
 */
export async function acceptMessage(
  client: Queryable,
  quota: QuotaRule,
  input: Omit<MessageJobInput, "prompt"> & { kept: string | null },
): Promise<Exclude<MessageOutcome, { kind: "replayed" | "conflict" }>> {
  const refusal = refusalOf(await findJob(client, input, "for no key update"));
  if (refusal) return refusal;
  const overBudget = await findBudgetRefusal(client, input.projectId);
  if (overBudget) return { kind: "over_budget", refusal: overBudget };
  const { rows: uses } = await client.query(
    "select * from admit_use($1, 'message', $2, make_interval(secs => $3), null)",
    [input.projectId, quota.usesMax, quota.windowMs / 1000],
  );
  const use = uses[0] as { is_admitted: boolean; used: number; at: Date; frees_at: Date };
  const state = quotaState(quota, use);
  if (!use.is_admitted) return { kind: "limited", quota: state };
  if (input.kept === null) throw quotaFilledMeanwhile();
  // Edits belong to their base. The branch has those that were pushed.
  await client.query("delete from overlay where job_id = $1 and (select pushed from jobs where id = $1)", [input.id]);
  const { rows } = await client.query<WireRow>(
    `with message as (
       insert into job_messages (job_id, number, prompt, after_step, created_by)
       select $1, coalesce((select max(number) from job_messages where job_id = $1), 0) + 1, $2,
         coalesce((select max(number) from steps where job_id = $1), 0), $3
       returning number
     ), changed as (
       -- create_until stays: a request of an earlier round may still open the pull request.
       update jobs set status = 'active', phase = 'queued', ref = branch, continues_branch = pushed,
         base_commit = case when not pushed then base_commit end, context = '[]',
         fork_commit = case when continues_branch then fork_commit when pushed then base_commit end,
         branch_commit = case when pushed and (${isPublished} or ${isTakenOver}) then commit_id else branch_commit end,
         rounds = rounds || jsonb_build_object('message', (select number - 1 from message), 'pullTitle', title,
           'title', case when ${isPublished} or ${isTakenOver} then coalesce(commit_title, title) end,
           'summary', left(case when ${isTakenOver} then summary else coalesce(failure_message, summary) end, ${summaryKeptMax}),
           'failure', case when not ${isTakenOver} then failure_code end,
           'reply', left(reply, ${summaryKeptMax})),
         base_conflict = null, commit_title = null, reply = null,
         tree_id = null, commit_id = null, limit_reached = null,
         findings = case when findings ->> 'kind' <> 'denied' then findings end,
         failure_code = null, failure_message = null, ended_at = null, waiting_since = null, notices = '[]', publication_unsure = false,
         contents_dropped_at = null, crashes = 0, crashes_blamed = 0, retries = 0, run_after = greatest(clock_timestamp(), editing_until),
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       where id = $1
       returning *
     ), told as (
       insert into job_events (job_id, seq, kind, data)
       select id, event_seq, 'job.message', jsonb_build_object('number', message.number) from changed, message
     )
     select ${wireColumns}, pg_notify('${channels.jobChanged}', id), pg_notify('${channels.jobDue}', project_id)
     from changed`,
    [input.id, input.kept, input.createdBy],
  );
  return { kind: "accepted", job: toWireJob(rows[0] as WireRow), quota: state };
}
