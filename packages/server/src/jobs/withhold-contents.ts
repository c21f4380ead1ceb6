import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost } from "./lease.ts";

/**
 * Forgets what the agent said and wrote, since a credential is somewhere in it: the messages of its steps, its edits, and
 * what watchers were told of them. Which tools were used, and what it cost, stays.
 */
export async function withholdContents(db: Queryable, lease: Lease): Promise<void> {
  const { rows } = await db.query(
    `with held as (
       select id from jobs where id = $1 and lease = $2 for no key update
     ), emptied as (
       update steps set messages = '[]' from held where steps.job_id = held.id
     ), dropped as (
       delete from overlay using held where overlay.job_id = held.id
     ), redacted as (
       update job_events set data = data || jsonb_build_object('text', '', 'tools', (
         select coalesce(jsonb_agg(tool || '{"input": {}}' order by place), '[]')
         from jsonb_array_elements(data -> 'tools') with ordinality as each (tool, place)
       ))
       from held where job_events.job_id = held.id and kind = 'step'
     )
     select id from held`,
    [lease.jobId, lease.token],
  );
  if (rows.length === 0) throw new LeaseLost(lease.jobId);
}
