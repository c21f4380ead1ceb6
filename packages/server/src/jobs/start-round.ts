import { channels } from "../db/listener.ts";
import type { Queryable } from "../db/pool.ts";
import { toWireJob, type WireJob, type WireRow, wireColumns } from "./wire-job.ts";

/** The last round left a commit on the branch: it did not fail, or a limit kept its work. */
const isPublished =
  "(commit_id is not null and (failure_code is null or failure_code is not distinct from limit_reached))";
/** Its publication failed and the next round continues its work, so the next pull request describes it too. */
const isTakenOver = `(commit_id is not null and not ${isPublished} and not continues_branch)`;
/** How much of a round's summary is kept for the pull request's text. */
const summaryKeptMax = 4_000;

/**
 * The job becomes active again and continues the conversation on the current branch. What its last round was about to
 * publish or report is dropped; its pull request stays. The caller has locked the job, which has ended.
 */
export async function startRound(
  client: Queryable,
  input: {
    id: string;
    prompt: string;
    createdBy: string;
    /** The comment on its pull request that asked for it. */
    commentId?: string | undefined;
    /** Works on it instead of the job's own model. */
    model?: string | undefined;
  },
): Promise<WireJob> {
  // Edits belong to their base. The branch has those that were pushed. A change that waited for approval is worked on.
  await client.query(
    "delete from overlay where job_id = $1 and (select pushed and status <> 'active' from jobs where id = $1)",
    [input.id],
  );
  await client.query(
    `update job_questions set decision = 'withdrawn', decided_by = $2, decided_at = clock_timestamp()
     where job_id = $1 and constructs is not null and decision is null`,
    [input.id, input.createdBy],
  );
  const { rows } = await client.query<WireRow>(
    `with message as (
       insert into job_messages (job_id, number, prompt, after_step, created_by, comment_id)
       select $1, coalesce((select max(number) from job_messages where job_id = $1), 0) + 1, $2,
         coalesce((select max(number) from steps where job_id = $1), 0), $3, $5
       returning number
     ), changed as (
       -- create_until stays: a request of an earlier round may still open the pull request.
       update jobs set status = 'active', phase = 'queued', ref = branch,
         model = coalesce($4, model), chosen_model = coalesce($4, chosen_model), continues_branch = pushed,
         base_commit = case when not pushed or status = 'active' then base_commit end, context = '[]',
         fork_commit = case when continues_branch then fork_commit when pushed then base_commit end, approved = null,
         branch_commit = case when pushed and (${isPublished} or ${isTakenOver}) then commit_id else branch_commit end,
         rounds = rounds || jsonb_build_object('message', (select number - 1 from message), 'status',
           case when not plan or (select number from message) > 1 then case status when 'active' then rounds -> -1 ->> 'status' else status end end, 'pullTitle', title,
           'title', case when ${isPublished} or ${isTakenOver} then coalesce(commit_title, title) end,
           'summary', left(case when ${isTakenOver} then summary else coalesce(failure_message, summary) end, ${summaryKeptMax}),
           'failure', case when not ${isTakenOver} then failure_code end,
           'reply', left(reply, ${summaryKeptMax})),
         base_conflict = null, commit_title = null, reply = null,
         tree_id = null, commit_id = null, limit_reached = null,
         findings = case when findings ->> 'kind' <> 'denied' then findings end,
         failure_code = null, failure_message = null, ended_at = null, waiting_since = null, notices = '[]', publication_unsure = false,
         publishes_preview = false,
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
    [input.id, input.prompt, input.createdBy, input.model ?? null, input.commentId ?? null],
  );
  return toWireJob(rows[0] as WireRow);
}

/** Said while the job published, or while a model worked that takes no messages: the next round is about all of it. */
export async function continueWithInterjections(client: Queryable, jobId: string): Promise<void> {
  const { rows } = await client.query<{ prompt: string; created_by: string }>(
    `with taken as (
       update job_interjections set taken_at = clock_timestamp() where job_id = $1 and taken_at is null
       returning id, prompt, created_by
     )
     select prompt, created_by from taken order by id`,
    [jobId],
  );
  const last = rows.at(-1);
  if (!last) return;
  const prompt = rows.map((row) => row.prompt).join("\n\n");
  await startRound(client, { id: jobId, prompt, createdBy: last.created_by });
}
