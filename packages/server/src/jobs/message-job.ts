import { channels } from "../db/channels.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import type { QuotaRule, QuotaState } from "./create-job.ts";
import { keptWithinQuota, roomCameLate } from "./kept-prompt.ts";
import type { RecordedPullRequest } from "./pull-requests.ts";
import type { JobReader } from "./read/job-reader.ts";
import { isJobId, toWireJob, type WireJob, type WireRow, wireColumns } from "./wire-job.ts";

/** Of a project, whoever sends them. */
export const messageQuota: QuotaRule = { usesMax: 100, windowMs: 3_600_000 };

export interface MessageJobInput {
  id: string;
  projectId: string;
  prompt: string;
  createdBy: string;
}

export type MessageOutcome =
  | { kind: "accepted"; job: WireJob; quota: QuotaState }
  | { kind: "unknown_job" }
  /** Why the job takes no message now. */
  | { kind: "refused"; because: "active" | "archived" | "merged" | "closed" }
  | { kind: "limited"; quota: QuotaState };

export interface MessageJobDeps {
  pool: Pool;
  reader: JobReader;
  /** How the pull request stands on its forge by now; null: the forge does not say. */
  pullRequestState(projectId: string, number: number): Promise<RecordedPullRequest["state"] | null>;
}

/**
 * Takes a follow-up: the job is active again and goes on with the conversation, on its branch as it is by then. What
 * its last round was about to publish or to report is over; its pull request stays.
 */
export async function messageJob(
  deps: MessageJobDeps,
  quota: QuotaRule,
  input: MessageJobInput,
): Promise<MessageOutcome> {
  if (!isJobId(input.id)) return { kind: "unknown_job" };
  const found = await findJob(deps.pool, input);
  const early = refusalOf(found);
  if (early) return early;
  // Asked before the transaction: none is open while a forge is waited for.
  const number = found?.pull_request?.number;
  const state = number === undefined ? null : await deps.pullRequestState(input.projectId, number);
  if (state === "merged" || state === "closed") return { kind: "refused", because: state };
  const use = { projectId: input.projectId, kind: "message", ...quota } as const;
  const kept = await keptWithinQuota(deps.pool, use, input.prompt);
  const outcome = await inTransaction(deps.pool, (client) => acceptMessage(client, quota, { ...input, kept }));
  deps.reader.forget(input.id);
  return outcome;
}

/** The round that is over left a commit on the branch: it did not fail, or at a limit that kept its work. */
const isPublished =
  "(commit_id is not null and (failure_code is null or failure_code is not distinct from limit_reached))";
/** Its publication failed, and the next round goes on with its work: the next pull request tells of it too. */
const isTakenOver = `(commit_id is not null and not ${isPublished} and not continues_branch)`;
/** Of what a round said of its work, for the pull request's text. */
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

function refusalOf(job: JobRow | undefined): MessageOutcome | null {
  if (!job) return { kind: "unknown_job" };
  if (job.status === "active" || job.status === "archived") return { kind: "refused", because: job.status };
  const state = job.pull_request?.state;
  return state === "merged" || state === "closed" ? { kind: "refused", because: state } : null;
}

/**
 * The message's part in a transaction, for whoever has more to store with it. `kept`: the prompt without credentials, by
 * then, since no transaction waits for the search; null where the quota had no room for it.
 */
export async function acceptMessage(
  client: Queryable,
  quota: QuotaRule,
  input: Omit<MessageJobInput, "prompt"> & { kept: string | null },
): Promise<MessageOutcome> {
  const refusal = refusalOf(await findJob(client, input, "for no key update"));
  if (refusal) return refusal;
  const { rows: uses } = await client.query(
    "select * from admit_use($1, 'message', $2, make_interval(secs => $3), null)",
    [input.projectId, quota.usesMax, quota.windowMs / 1000],
  );
  const use = uses[0] as { is_admitted: boolean; used: number; at: Date; frees_at: Date };
  const state = {
    ...quota,
    usesLeft: Math.max(0, quota.usesMax - use.used),
    freesAt: use.frees_at,
    freesInMs: Math.max(0, use.frees_at.getTime() - use.at.getTime()),
  };
  if (!use.is_admitted) return { kind: "limited", quota: state };
  if (input.kept === null) throw roomCameLate();
  // Edits belong to the base they were made on: the branch holds those that were pushed.
  await client.query("delete from overlay where job_id = $1 and (select pushed from jobs where id = $1)", [input.id]);
  const { rows } = await client.query<WireRow>(
    `with message as (
       insert into job_messages (job_id, number, prompt, after_step, created_by)
       select $1, coalesce((select max(number) from job_messages where job_id = $1), 0) + 1, $2,
         coalesce((select max(number) from steps where job_id = $1), 0), $3
       returning number
     ), changed as (
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
         failure_code = null, failure_message = null, ended_at = null, stop_asked = null, waiting_since = null, notices = '[]', publication_unsure = false,
         contents_dropped_at = null, crashes = 0, retries = 0, run_after = clock_timestamp(),
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
