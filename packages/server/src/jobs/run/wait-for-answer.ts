import type { AskedConstruct } from "@emend/contract";
import { channels } from "../../db/listener.ts";
import { type Pool, toJsonb, toText } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { continueWithInterjections } from "../start-round.ts";
import { releaseRun } from "./end-run.ts";
import { type Lease, LeaseLost } from "./leases.ts";

export interface AskedQuestion {
  question: string;
  options: readonly string[];
  /** The stored step that asked. Null: the review asks a person, and nothing is published before. */
  step: number | null;
  constructs?: readonly StoredConstruct[];
}

/** What a person is asked about. `id` covers its texts and their number; `key` is what can be allowed from then on. */
export interface StoredConstruct extends AskedConstruct {
  id: string;
  key: string | null;
}

/**
 * Tells the question once, and gives the lease back: the job is due again when somebody says something (`message-job.ts`)
 * or approves (`answer-approval.ts`), or after `waitMs`. What was said before the question was told is heard first.
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
    if (said.rowCount !== 0) {
      await releaseRun(client, lease, { reason: "released", delayMs: 0 });
      // The change is finished: what was said about it starts the next round.
      return asked.constructs ? continueWithInterjections(client, lease.jobId) : undefined;
    }
    await client.query(
      `with told_now as (
         insert into job_questions (job_id, step, question, options, answer_until, constructs)
         values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5), $6)
         on conflict (job_id, step) do nothing
         returning *
       ), asked as (
         select * from told_now union all select * from job_questions where job_id = $1 and step = $2
       ), changed as (
         update jobs set lease = null, lease_until = null, alone = false, phase = 'queued',
           waiting_since = asked_at,
           waiting_for = case when constructs is null then 'answer' else 'approval' end, waiting_words = question, run_after = answer_until,
           event_seq = event_seq + (select count(*) from told_now), updated_at = clock_timestamp()
         from asked where jobs.id = $1
         returning jobs.id, event_seq
       ), told as (
         insert into job_events (job_id, seq, kind, data)
         select changed.id, event_seq, case when constructs is null then 'job.question' else 'job.waiting' end,
           case when constructs is null then
             jsonb_build_object('question', question, 'options', options, 'answerUntil', wire_time(answer_until))
           else approval_told(row(told_now.*)::job_questions) end
         from changed, told_now
       )
       select pg_notify('${channels.jobChanged}', id) from changed`,
      [
        lease.jobId,
        asked.step,
        toText(asked.question),
        asked.options.map(toText),
        waitMs / 1000,
        asked.constructs ? toJsonb(asked.constructs) : null,
      ],
    );
  });
}
