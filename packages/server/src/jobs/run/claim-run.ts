import { isHomeWorker } from "../../db/home-worker.ts";
import type { Client, Pool, Queryable } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type LeasedJob, type LeasedJobRow, leasedJobColumns, toLeasedJob } from "./leased-job.ts";
import { newToken } from "./leases.ts";

export interface ClaimOptions {
  /** Concurrent runs per project, unless its settings say otherwise. */
  lanes: number;
  leaseMs: number;
  /** Where to continue: what the last claim returned; "" at first. */
  lookAfter: string;
  /** Concurrent runs in this process. */
  concurrency: number;
  /** This process, as the listener's lock names it. Without it, nobody sees that the process is gone. */
  holder?: number;
  /** The jobs that run in this process. */
  running: readonly { crashes: number }[];
  /** A bit for each slot of projects: those without one are left to their home workers for a while. */
  slots?: Buffer | null;
  /** How long such a job waits for them. */
  homeMs?: number;
}

export interface Claim {
  /** Null if nothing is due, or other workers are claiming it now. */
  job: LeasedJob | null;
  lookAfter: string;
  /** A suspect is due, and this process runs jobs that are none. */
  suspectWaits: boolean;
}

/**
 * A job that lost this many workers is a suspect. A worker that dies takes all its jobs with it, so most are innocent:
 * suspects run with each other only, in groups that halve with each lost worker. The rest of a group is cleared by its
 * end, and only a job that ran alone is blamed.
 */
const workersLostMax = 2;

/** How many jobs may share a process with one that lost this many workers, itself included. */
export function jobsBesideMax(crashes: number, concurrency: number): number {
  return crashes < workersLostMax ? concurrency : Math.max(1, Math.floor(concurrency / 2 ** crashes));
}

function isSuspect({ crashes }: { crashes: number }): boolean {
  return crashes >= workersLostMax;
}

/** The least losses after which a group has at most this many members. */
function crashesOfGroup(size: number, concurrency: number): number {
  let crashes = workersLostMax;
  while (jobsBesideMax(crashes, concurrency) > size) crashes += 1;
  return crashes;
}

/** Projects with a due job that one claim compares. If more wait, claims look at them in turn. */
const projectsComparedMax = 40;
/** With those whose jobs are not due yet. */
const projectsLookedAtMax = 200;

/** Claims the oldest due job of the project with the fewest runs, in one short transaction. */
export async function claimRun(pool: Pool, options: ClaimOptions): Promise<Claim> {
  return inTransaction(pool, async (client) => {
    const { running, concurrency, leaseMs, holder } = options;
    const isGroup = running.some(isSuspect);
    const { suspectDue, lookAfter, ...project } = await lockProjectWithDueJob(client, options);
    const crashesMax = running.length === 0 ? crashesEver : crashesOfGroup(running.length, concurrency) - 1;
    const suspects = { crashesMax, crashesAlone: crashesOfGroup(1, concurrency) };
    const mayJoin = suspectDue && (isGroup || running.length === 0);
    const suspect = mayJoin ? await lockProjectWithSuspect(client, options.lanes, crashesMax) : undefined;
    const found = suspect ?? (isGroup ? null : project);
    const job = found?.id
      ? await leaseOldestDueJob(client, found, { leaseMs, holder, suspects: suspect ? suspects : null })
      : null;
    return { job, lookAfter, suspectWaits: suspectDue && running.length > 0 && !isGroup };
  });
}

/** More than any job has: the database's largest integer. */
const crashesEver = 2 ** 31 - 1;

/**
 * One process at a time makes room for a suspect: it lets its own jobs go at their next step. True if that is the
 * process with this token, for as long as it renews.
 */
export async function holdRoomForSuspect(db: Queryable, token: string, holdMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into tasks (kind, due_at, lease, held_until)
     values ('make_room', 'infinity', $1, clock_timestamp() + make_interval(secs => $2))
     on conflict (kind, subject) do update set lease = excluded.lease, held_until = excluded.held_until
       where tasks.lease = excluded.lease or tasks.held_until <= clock_timestamp()`,
    [token, holdMs / 1000],
  );
  return rowCount === 1;
}

interface LockedProject {
  id: string | null;
  lanes: number;
}

const lanesOfProject =
  "select case jsonb_typeof(settings -> 'lanes') when 'number' then (settings ->> 'lanes')::float else $1 end as max";
const suspectsDue = (crashesMax: string) => `
  select jobs.project_id, jobs.run_after, lanes.max from jobs
  join projects on projects.id = jobs.project_id
  cross join lateral (${lanesOfProject}) lanes
  where jobs.status = 'active' and jobs.lease is null and jobs.crashes between ${workersLostMax} and ${crashesMax}
    and jobs.run_after <= statement_timestamp()
    and (select count(*) from jobs running where running.project_id = projects.id and running.lease is not null) < lanes.max`;

/** Oldest first, before all jobs that can share a process: otherwise it would never be empty. */
async function lockProjectWithSuspect(
  client: Client,
  lanes: number,
  crashesMax: number,
): Promise<LockedProject | undefined> {
  const { rows } = await client.query<LockedProject>({
    name: "claim-suspect-project",
    text: `
      select projects.id, due.max as lanes from (${suspectsDue("$2")}) due join projects on projects.id = due.project_id
      order by due.run_after limit 1 for no key update of projects skip locked`,
    values: [lanes, crashesMax],
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
): Promise<LockedProject & { lookAfter: string; suspectDue: boolean }> {
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
          and (${isHomeWorker("$3", "waiting.project_id")}
            or waiting.run_after <= statement_timestamp() - make_interval(secs => $4))
        order by running.count, waiting.run_after
        limit 1
        for no key update of projects skip locked
      )
      select (select id from locked) as id, (select max from locked) as lanes,
        exists (${suspectsDue(String(crashesEver))}) as "suspectDue",
        coalesce((select project_id from waiting where not wrapped
          and (hop = ${projectsLookedAtMax} or due = ${projectsComparedMax})), '') as "lookAfter"`,
    values: [options.lanes, options.lookAfter, options.slots ?? null, (options.homeMs ?? 0) / 1000],
  });
  return rows[0];
}

const isNewRun = "(waiting_since is null or waiting_for in ('answer', 'approval'))";

/**
 * Counts again under the lock: the count above is from before the lock. Without this, 16 concurrent claimers ran 14
 * jobs in 4 lanes. Expired leases count until they are swept, because their run may still renew them.
 */
async function leaseOldestDueJob(
  client: Client,
  project: LockedProject,
  lease: { leaseMs: number; holder: number | undefined; suspects: { crashesMax: number; crashesAlone: number } | null },
): Promise<LeasedJob | null> {
  const { leaseMs, holder, suspects } = lease;
  const { rows } = await client.query<LeasedJobRow>({
    name: suspects ? "claim-suspect" : "claim-job",
    text: `
      with claimed as (
        update jobs set lease = $2, lease_until = clock_timestamp() + make_interval(secs => $3),
          alone = ${suspects ? "crashes >= $5" : "false"},
          -- Another try of a job that waits for its forge is no new run, and is not told.
          runs = runs + (${isNewRun})::int, event_seq = event_seq + (${isNewRun})::int,
          waiting_since = case when not ${isNewRun} then waiting_since end,
          phase = case when commit_id is null then 'preparing' else phase end, updated_at = clock_timestamp()
        where id = (
            select id from jobs
            where project_id = $1 and status = 'active' and lease is null and run_after <= statement_timestamp()
              and crashes ${suspects ? `between ${workersLostMax} and $6` : `< ${workersLostMax}`}
            order by run_after, id limit 1 for no key update skip locked
          )
          and (select count(*) from jobs where project_id = $1 and lease is not null) < $4
        returning jobs.*
      ), told as (
        insert into job_events (job_id, seq, kind, data)
        select id, event_seq, 'run.started', jsonb_build_object('run', runs, 'phase', phase) from claimed
        where waiting_since is null
      )
      select ${leasedJobColumns} from claimed jobs`,
    values: [
      project.id,
      newToken(holder),
      leaseMs / 1000,
      project.lanes,
      ...(suspects ? [suspects.crashesAlone, suspects.crashesMax] : []),
    ],
  });
  return rows[0] === undefined ? null : toLeasedJob(rows[0]);
}
