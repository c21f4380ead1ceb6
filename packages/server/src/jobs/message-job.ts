import { hash } from "node:crypto";
import type { PriceTable } from "@emend/agent";
import { channels } from "../db/listener.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { waitsForApproval } from "./answer-approval.ts";
import { type BudgetRefusal, findBudgetRefusal } from "./budget.ts";
import { type QuotaRule, type QuotaState, quotaState } from "./create-job.ts";
import type { RecordedPullRequest } from "./pull-requests.ts";
import type { JobReader } from "./read/job-reader.ts";
import { quotaFilledMeanwhile, redactWithinQuota } from "./redact-prompt.ts";
import { startRound } from "./start-round.ts";
import { type AskedWithUploads, attachUploads, promptWithUploads } from "./uploads/uploads.ts";
import { isJobId, toWireJob, type WireJob, type WireRow, wireColumns, wireJobOf } from "./wire-job.ts";

/** Of a message to a job that works, in its event. */
const shownCharactersMax = 500;

/** Per project, for all senders. */
export const messageQuota: QuotaRule = { usesMax: 100, windowMs: 3_600_000 };

export interface MessageJobInput {
  id: string;
  projectId: string;
  prompt: string;
  /** Uploads that it names. */
  files?: readonly string[];
  createdBy: string;
  /** The comment on its pull request that asked for it. */
  commentId?: string;
  /** The same key with the same prompt is one message, for 24 hours. */
  idempotencyKey?: string | null;
  /** A job that works does not hear it: it repeats what the job may be working on. */
  onlyEnded?: boolean;
  /** Works on it instead of the job's own model. */
  model?: string | undefined;
}

export type MessageOutcome =
  | { kind: "accepted"; job: WireJob; quota: QuotaState }
  /** The key was used before: this is the first response again. */
  | { kind: "replayed"; job: WireJob; quota: QuotaState }
  /** The idempotency key was used with another body, for another job or for a create. */
  | { kind: "conflict" }
  | { kind: "unknown_job" }
  /** Why the job accepts no message. `active`: only with `onlyEnded`. */
  | { kind: "refused"; because: "active" | "archived" | "merged" | "closed" }
  | { kind: "limited"; quota: QuotaState }
  | { kind: "over_budget"; refusal: BudgetRefusal };

export interface MessageJobDeps {
  pool: Pool;
  reader: Pick<JobReader, "forget">;
  /** The pull request's current state on its forge. Null if the forge does not say. */
  pullRequestState(projectId: string, number: number): Promise<RecordedPullRequest["state"] | null>;
  modelPrices?: PriceTable;
}

/** Accepts a message: a job that works hears it before its next turn, and one that has ended becomes active again. */
export async function messageJob(
  deps: MessageJobDeps,
  quota: QuotaRule,
  given: MessageJobInput,
): Promise<MessageOutcome> {
  if (!isJobId(given.id)) return { kind: "unknown_job" };
  const input = { ...given, ...(await withUploads(deps, given)) };
  // Checked before the job's state, which the first message with this key has changed.
  const first = await findFirstAnswer(deps.pool, quota, input);
  if (first) return first;
  const found = await findJob(deps.pool, input);
  const early = refusalOf(found);
  if (early) return early;
  // Before the transaction: none is open while waiting for a forge.
  const number = found?.pull_request?.number;
  const state = number === undefined ? null : await deps.pullRequestState(input.projectId, number);
  if (state === "merged" || state === "closed") return { kind: "refused", because: state };
  const use = { projectId: input.projectId, kind: "message", ...quota } as const;
  const kept = await redactWithinQuota(deps.pool, use, input.prompt);
  const outcome = await inTransaction(deps.pool, async (client) => {
    if (!input.idempotencyKey) return hearMessage(client, quota, { ...input, kept });
    // The lock of creates and quotas: of concurrent requests with one key, the first is stored before the next is
    // checked. The job's own lock is taken first, as in every message: two in the other order would deadlock.
    await findJob(client, input, "for no key update");
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [input.projectId]);
    const earlier = await findFirstAnswer(client, quota, input);
    if (earlier) return earlier;
    const accepted = await hearMessage(client, quota, { ...input, kept });
    if (accepted.kind === "accepted") await storeFirstAnswer(client, input, accepted.job);
    return accepted;
  });
  deps.reader.forget(input.id);
  return outcome;
}

async function withUploads(deps: MessageJobDeps, input: MessageJobInput): Promise<AskedWithUploads> {
  const { projectId, prompt, files = [] } = input;
  if (files.length === 0) return { prompt, identity: prompt };
  const model = input.model ?? (await findJob(deps.pool, input))?.model ?? "";
  return promptWithUploads(deps.pool, { projectId, prompt, model, files }, deps.modelPrices);
}

type WithIdentity = MessageJobInput & AskedWithUploads;

function bodyHash({ id, identity }: WithIdentity): Buffer {
  return hash("sha256", JSON.stringify(["message", id, identity]), "buffer");
}

/** The first response for this key, or null. Messages and creates share a project's keys. */
async function findFirstAnswer(
  db: Queryable,
  quota: QuotaRule,
  input: WithIdentity,
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

async function storeFirstAnswer(client: Queryable, input: WithIdentity, job: WireJob): Promise<void> {
  await client.query(
    `insert into idempotency_keys (project_id, key, body_hash, job_id, response) values ($1, $2, $3, $4, $5)
     on conflict (project_id, key) do update set body_hash = excluded.body_hash, job_id = excluded.job_id,
       response = excluded.response, created_at = excluded.created_at`,
    [input.projectId, input.idempotencyKey, bodyHash(input), input.id, job.body],
  );
}

interface JobRow {
  status: "active" | "completed" | "archived" | "failed";
  pull_request: RecordedPullRequest | null;
  model: string;
}

async function findJob(
  db: Pick<Pool, "query">,
  job: { id: string; projectId: string },
  lock = "",
): Promise<JobRow | undefined> {
  const { rows } = await db.query<JobRow>(
    `select status, pull_request, model from jobs where id = $1 and project_id = $2 ${lock}`,
    [job.id, job.projectId],
  );
  return rows[0];
}

function refusalOf(job: JobRow | undefined): Extract<MessageOutcome, { kind: "unknown_job" | "refused" }> | null {
  if (!job) return { kind: "unknown_job" };
  if (job.status === "archived") return { kind: "refused", because: "archived" };
  const state = job.pull_request?.state;
  return state === "merged" || state === "closed" ? { kind: "refused", because: state } : null;
}

type Accepting = Exclude<MessageOutcome, { kind: "replayed" | "conflict" }>;
/** `kept`: the prompt without credentials, scanned before, because no transaction waits for the scan. Null if the quota had no room. */
type KeptMessage = Omit<MessageJobInput, "prompt"> & { kept: string | null };

async function hearMessage(client: Queryable, quota: QuotaRule, input: KeptMessage): Promise<Accepting> {
  const ended = await acceptMessage(client, quota, input);
  const isActive = ended.kind === "refused" && ended.because === "active" && !input.onlyEnded;
  const outcome = isActive ? await hearActive(client, quota, input) : ended;
  if (outcome.kind === "accepted") await attachUploads(client, input, input.files ?? []);
  return outcome;
}

/** A message is no approval: it withdraws the question, and the agent works on with what it says. */
async function hearActive(client: Queryable, quota: QuotaRule, input: KeptMessage): Promise<Accepting> {
  const { rowCount } = await client.query(`select 1 from jobs where id = $1 and ${waitsForApproval}`, [input.id]);
  return rowCount === 0 ? interject(client, quota, input) : continueRound(client, quota, input);
}

const isAsking = "(waiting_for = 'answer' and waiting_since is not null and lease is null)";

/** The run takes it with its next step. The job's row is locked, so that the run cannot end without it. */
async function interject(client: Queryable, quota: QuotaRule, input: KeptMessage): Promise<Accepting> {
  const admitted = await admitMessage(client, quota, input);
  if (admitted.kind !== "admitted") return admitted;
  const { rows } = await client.query<WireRow>(
    `with said as (
       insert into job_interjections (job_id, prompt, created_by) values ($1, $2, $3)
     ), changed as (
       update jobs set has_interjections = true, event_seq = event_seq + 1, updated_at = clock_timestamp(),
         -- An answer, and a job that waits for one is due again.
         run_after = case when ${isAsking} then clock_timestamp() else run_after end,
         waiting_since = case when not ${isAsking} then waiting_since end
       where id = $1 returning *
     ), told as (
       insert into job_events (job_id, seq, kind, data) select id, event_seq, 'job.interjection',
         jsonb_build_object('text', left($2, ${shownCharactersMax})) from changed
     )
     select ${wireColumns}, pg_notify('${channels.jobChanged}', id), pg_notify('${channels.jobDue}', project_id) from changed`,
    [input.id, admitted.kept, input.createdBy],
  );
  return { kind: "accepted", job: toWireJob(rows[0] as WireRow), quota: admitted.quota };
}

/** Counts a message against budget and quota. */
async function admitMessage(client: Queryable, quota: QuotaRule, input: KeptMessage) {
  const overBudget = await findBudgetRefusal(client, input.projectId);
  if (overBudget) return { kind: "over_budget", refusal: overBudget } as const;
  const { rows: uses } = await client.query(
    "select * from admit_use($1, 'message', $2, make_interval(secs => $3), null)",
    [input.projectId, quota.usesMax, quota.windowMs / 1000],
  );
  const use = uses[0] as { is_admitted: boolean; used: number; at: Date; frees_at: Date };
  const state = quotaState(quota, use);
  if (!use.is_admitted) return { kind: "limited", quota: state } as const;
  if (input.kept === null) throw quotaFilledMeanwhile();
  return { kind: "admitted", kept: input.kept, quota: state } as const;
}

/** The part inside a transaction, for callers that store more with it and wait for a job that works. */
export async function acceptMessage(client: Queryable, quota: QuotaRule, input: KeptMessage): Promise<Accepting> {
  const found = await findJob(client, input, "for no key update");
  const refusal = refusalOf(found);
  if (refusal) return refusal;
  if (found?.status === "active") return { kind: "refused", because: "active" };
  return continueRound(client, quota, input);
}

async function continueRound(client: Queryable, quota: QuotaRule, input: KeptMessage): Promise<Accepting> {
  const admitted = await admitMessage(client, quota, input);
  if (admitted.kind !== "admitted") return admitted;
  const { id, createdBy, commentId, model } = input;
  const job = await startRound(client, { id, prompt: admitted.kept, createdBy, commentId, model });
  return { kind: "accepted", job, quota: admitted.quota };
}
