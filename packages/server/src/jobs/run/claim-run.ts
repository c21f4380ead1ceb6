import { randomUUID } from "node:crypto";
import { channels } from "../../db/listener.ts";
import type { Client, Pool } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type LeasedJob, type LeasedJobRow, leasedJobColumns, toLeasedJob } from "./leased-job.ts";

export interface ClaimOptions {
  /** Concurrent runs per project, unless its settings say otherwise. */
  lanes: number;
  leaseMs: number;
  /** Where to continue: what the last claim returned; "" at first. */
  lookAfter: string;
  /** The process has no other run. */
  isIdle: boolean;
}

export interface Claim {
  /** Null if nothing is due, or other workers are claiming it now. */
  job: LeasedJob | null;
  lookAfter: string;
  /** A job that must run alone is due, and this process has other runs. */
  loneJobWaits: boolean;
}

/**
 * After this many lost workers, a job runs alone in its process. A worker that dies takes all its jobs with it, and
 * only a job that ran alone can be blamed.
 */
const workersLostMax = 2;

/** Projects with a due job that one claim compares. If more wait, claims look at them in turn. */
const projectsComparedMax = 40;
/** With those whose jobs are not due yet. */
const projectsLookedAtMax = 200;

/** Claims the oldest due job of the project with the fewest runs, in one short transaction. */
export async function claimRun(pool: Pool, options: ClaimOptions): Promise<Claim> {
  return inTransaction(pool, async (client) => {
    const { loneJobDue, lookAfter, ...project } = await lockProjectWithDueJob(client, options);
    const lone = loneJobDue && options.isIdle ? await lockProjectWithLoneJob(client, options.lanes) : undefined;
    const found = lone ?? project;
    const { leaseMs } = options;
    const job =
      found.id === null ? null : await leaseOldestDueJob(client, found, { leaseMs, alone: lone !== undefined });
    return { job, lookAfter, loneJobWaits: loneJobDue && !options.isIdle };
  });
}

interface LockedProject {
  id: string | null;
  lanes: number;
}

const lanesOfProject =
  "select case jsonb_typeof(settings -> 'lanes') when 'number' then (settings ->> 'lanes')::float else $1 end as max";
const loneJobsDue = `
  select jobs.project_id, jobs.run_after, lanes.max from jobs
  join projects on projects.id = jobs.project_id
  cross join lateral (${lanesOfProject}) lanes
  where jobs.status = 'active' and jobs.lease is null and jobs.crashes >= ${workersLostMax}
    and jobs.run_after <= statement_timestamp()
    and (select count(*) from jobs running where running.project_id = projects.id and running.lease is not null) < lanes.max`;

/** Oldest first, before all jobs that can share a process: otherwise it would never be empty. */
async function lockProjectWithLoneJob(client: Client, lanes: number): Promise<LockedProject | undefined> {
  const { rows } = await client.query<LockedProject>({
    name: "claim-lone-project",
    text: `
      select projects.id, due.max as lanes from (${loneJobsDue}) due join projects on projects.id = due.project_id
      order by due.run_after limit 1 for no key update of projects skip locked`,
    values: [lanes],
  });
  return rows[0];
}

/** The oldest waiting job of the first project after this one. */
const nextWaiting = (projectId: string) => `
  select project_id, run_after from jobs
  where status = 'active' and lease is null and crashes < ${workersLostMax} and project_id > ${projectId}
  order by project_id, run_after limit 1`;

/**
 * The recursion skips through the index from project to project, and runs are counted only for those projects, so the cost
 * depends on none of the numbers of waiting projects, waiting jobs and running jobs. Past the last project it goes on with the
 * first: otherwise the few projects at the end would be compared only with each other, and served more often.
 * `no key`: the lock lets new jobs that refer to the project be inserted meanwhile.
 */
async function lockProjectWithDueJob(
  client: Client,
  options: ClaimOptions,
): Promise<LockedProject & { lookAfter: string; loneJobDue: boolean }> {
  const { rows } = await client.query({
    name: "claim-project",
    text: `
      with recursive waiting as (
        (select project_id, run_after, 1 as hop, (run_after <= statement_timestamp())::int as due, false as wrapped
         from (${nextWaiting("$2")}) next)
        union all
        select next.project_id, next.run_after, hop + 1, due + (next.run_after <= statement_timestamp())::int, next.wrapped
        from waiting cross join lateral (
          (select *, wrapped from (${nextWaiting("waiting.project_id")}) after)
          union all
          (select *, true from (${nextWaiting("''")}) first where not wrapped and $2 <> '')
          limit 1
        ) next
        where hop < ${projectsLookedAtMax} and due < ${projectsComparedMax} and (not next.wrapped or next.project_id <= $2)
      ), locked as (
        select projects.id, lanes.max
        from waiting
        join projects on projects.id = waiting.project_id
        cross join lateral (${lanesOfProject}) lanes
        cross join lateral (
          select count(*) as count from jobs where jobs.project_id = waiting.project_id and jobs.lease is not null
        ) running
        where waiting.run_after <= statement_timestamp() and running.count < lanes.max
        order by running.count, waiting.run_after
        limit 1
        for no key update of projects skip locked
      )
      select (select id from locked) as id, (select max from locked) as lanes,
        exists (${loneJobsDue}) as "loneJobDue",
        coalesce((select project_id from waiting where not wrapped
          and (hop = ${projectsLookedAtMax} or due = ${projectsComparedMax})), '') as "lookAfter"`,
    values: [options.lanes, options.lookAfter],
  });
  return rows[0];
}

/**
 * Counts again under the lock: the count above is from before the lock. Without this, 16 concurrent claimers ran 14
 * jobs in 4 lanes. Expired leases count until they are swept, because their run may still renew them.
 */
async function leaseOldestDueJob(
  client: Client,
  project: LockedProject,
  { leaseMs, alone }: { leaseMs: number; alone: boolean },
): Promise<LeasedJob | null> {
  const { rows } = await client.query<LeasedJobRow>({
    name: alone ? "claim-lone-job" : "claim-job",
    text: `
      with claimed as (
        update jobs set lease = $2, lease_until = clock_timestamp() + make_interval(secs => $3),
          alone = ${alone},
          -- Another try of a job that waits for its forge is no new run, and is not told.
          runs = runs + (waiting_since is null)::int, event_seq = event_seq + (waiting_since is null)::int,
          phase = case when commit_id is null then 'preparing' else phase end, updated_at = clock_timestamp()
        where id = (
            select id from jobs
            where project_id = $1 and status = 'active' and lease is null and run_after <= statement_timestamp()
              and crashes ${alone ? ">=" : "<"} ${workersLostMax}
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
