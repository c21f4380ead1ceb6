import { randomUUID } from "node:crypto";
import { channels } from "../../db/channels.ts";
import type { Client, Pool } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type LeasedJob, type LeasedJobRow, leasedJobColumns, toLeasedJob } from "./leased-job.ts";

export interface ClaimOptions {
  /** Runs at the same time in one project, where its settings do not say. */
  lanes: number;
  leaseMs: number;
  /** Where to look from: what the last claim said, "" at first. */
  lookAfter: string;
}

export interface Claim {
  /** Null: nothing is due, or others are taking it this moment; a later claim sees the rest. */
  job: LeasedJob | null;
  lookAfter: string;
}

/** More projects than this rarely wait at once; where they do, claims look at them by turns. */
const projectsLookedAtMax = 200;

/** Takes the oldest due job of the project that has fewest running, in one short transaction. */
export async function claimRun(pool: Pool, options: ClaimOptions): Promise<Claim> {
  return inTransaction(pool, async (client) => {
    const { id, lanes, lookAfter } = await lockProjectWithDueJob(client, options);
    const job = id === null ? null : await leaseOldestDueJob(client, { id, lanes }, options.leaseMs);
    return { job, lookAfter };
  });
}

/**
 * The recursion hops through the index from project to project, so its cost is the number of projects that wait and
 * not of their jobs. `no key`: a lock that lets new jobs, which refer to the project, be inserted meanwhile.
 */
async function lockProjectWithDueJob(
  client: Client,
  options: ClaimOptions,
): Promise<{ id: string | null; lanes: number; lookAfter: string }> {
  const { rows } = await client.query({
    name: "claim-project",
    text: `
      with recursive waiting as (
        (select project_id, run_after, 1 as hop from jobs
         where status = 'active' and lease is null and project_id > $2
         order by project_id, run_after limit 1)
        union all
        select next.project_id, next.run_after, hop + 1 from waiting cross join lateral (
          select project_id, run_after from jobs
          where status = 'active' and lease is null and project_id > waiting.project_id
          order by project_id, run_after limit 1
        ) next where hop < ${projectsLookedAtMax}
      ), running as (
        select project_id, count(*) as count from jobs where lease is not null group by project_id
      ), locked as (
        select projects.id, lanes.max
        from waiting
        join projects on projects.id = waiting.project_id
        left join running on running.project_id = waiting.project_id
        cross join lateral (
          select case jsonb_typeof(settings -> 'lanes') when 'number' then (settings ->> 'lanes')::float else $1 end as max
        ) lanes
        where waiting.run_after <= statement_timestamp() and coalesce(running.count, 0) < lanes.max
        order by coalesce(running.count, 0), waiting.run_after
        limit 1
        for no key update of projects skip locked
      )
      select (select id from locked) as id, (select max from locked) as lanes,
        coalesce((select project_id from waiting where hop = ${projectsLookedAtMax}), '') as "lookAfter"`,
    values: [options.lanes, options.lookAfter],
  });
  return rows[0];
}

/**
 * Counts again under the lock: the count above is as old as the moment before the lock was had, and without this one
 * 16 racing claimers ran 14 jobs in 4 lanes. Leases that have expired count until they are swept, since their run
 * may yet renew them.
 */
async function leaseOldestDueJob(
  client: Client,
  project: { id: string; lanes: number },
  leaseMs: number,
): Promise<LeasedJob | null> {
  const { rows } = await client.query<LeasedJobRow>({
    name: "claim-job",
    text: `
      with claimed as (
        update jobs set lease = $2, lease_until = clock_timestamp() + make_interval(secs => $3), 
          -- Another try of a job that waits for its forge is no new run, and is not told.
          runs = runs + (waiting_since is null)::int, event_seq = event_seq + (waiting_since is null)::int,
          phase = case when commit_id is null then 'preparing' else phase end, updated_at = clock_timestamp()
        where id = (
            select id from jobs
            where project_id = $1 and status = 'active' and lease is null and run_after <= statement_timestamp()
            order by run_after, id limit 1 for no key update skip locked
          )
          and (select count(*) from jobs where project_id = $1 and lease is not null) < $4
        returning event_seq, waiting_since, ${leasedJobColumns}
      ), told as (
        insert into job_events (job_id, seq, kind, data)
        select id, event_seq, 'run.started', jsonb_build_object('run', runs, 'phase', phase) from claimed
        where waiting_since is null
      )
      select *, pg_notify('${channels.jobChanged}', id) from claimed`,
    values: [project.id, randomUUID(), leaseMs / 1000, project.lanes],
  });
  return rows[0] === undefined ? null : toLeasedJob(rows[0]);
}
