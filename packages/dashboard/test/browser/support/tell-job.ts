import { seedJob } from "@emend/testkit/seed-jobs.ts";
import type { Pool, Queryable } from "../../../../server/src/db/pool.ts";
import { inTransaction } from "../../../../server/src/db/transaction.ts";

/** An active job that no worker claims for an hour. Both are set in one transaction, so no worker claims it in between. */
export function addJob(pool: Pool, projectId: string, prompt: string): Promise<string> {
  return inTransaction(pool, async (client) => {
    const id = await seedJob(client, projectId, prompt);
    await client.query("update jobs set run_after = now() + interval '1 hour' where id = $1", [id]);
    return id;
  });
}

/** Adds an event to a job, as a run would. */
export async function tellJob(db: Queryable, id: string, event: { kind: string; data: object }): Promise<void> {
  await db.query(
    `with changed as (
       update jobs set event_seq = event_seq + 1, updated_at = clock_timestamp() where id = $1 returning id, event_seq
     ), told as (insert into job_events (job_id, seq, kind, data) select id, event_seq, $2, $3 from changed)
     select pg_notify('emend_job_changed', id) from changed`,
    [id, event.kind, JSON.stringify(event.data)],
  );
}
