import { channels } from "../../db/listener.ts";
import { type Pool, toText } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { releaseRun } from "./end-run.ts";
import { type Lease, LeaseLost } from "./leases.ts";

export interface AskedQuestion {
  question: string;
  options: readonly string[];
  /** The stored step that asked. */
  step: number;
}

/**
 * Tells the question once, and gives the lease back: the job is due again when somebody says something (`message-job.ts`),
 * or after `waitMs`. What was said before the question was told is heard first.
 */
export async function waitForAnswer(pool: Pool, lease: Lease, asked: AskedQuestion, waitMs: number): Promise<void> {
  await inTransaction(pool, async (client) => {
    // Two statements: the second one sees what was committed while the first waited for the lock.
    const held = await client.query("select 1 from jobs where id = $1 and lease = $2 for no key update", [
      lease.jobId,
      lease.token,
    ]);
    if (held.rowCount === 0) throw new LeaseLost(lease.jobId);
    const said = await client.query("select 1 from job_interjections where job_id = $1 and taken_at is null limit 1", [
      lease.jobId,
    ]);
    if (said.rowCount !== 0) return releaseRun(client, lease, { reason: "released", delayMs: 0 });
    await client.query(
      `with told_now as (
         insert into job_questions (job_id, step, question, options, answer_until)
         values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5))
         on conflict (job_id, step) do nothing
         returning *
       ), asked as (
         select * from told_now union all select * from job_questions where job_id = $1 and step = $2
       ), changed as (
         update jobs set lease = null, lease_until = null, alone = false, phase = 'queued',
           waiting_since = asked_at, waiting_for = 'answer', waiting_words = question, run_after = answer_until,
           event_seq = event_seq + (select count(*) from told_now), updated_at = clock_timestamp()
         from asked where jobs.id = $1
         returning jobs.id, event_seq
       ), told as (
         insert into job_events (job_id, seq, kind, data)
         select changed.id, event_seq, 'job.question', jsonb_build_object('question', question, 'options', options,
           'answerUntil', wire_time(answer_until)) from changed, told_now
       )
       select pg_notify('${channels.jobChanged}', id) from changed`,
      [lease.jobId, asked.step, toText(asked.question), asked.options.map(toText), waitMs / 1000],
    );
  });
}
