import { appendFileSync, writeFileSync } from "node:fs";
import type { Queryable } from "../../server/src/db/pool.ts";

export interface Verdict {
  faults: number;
  jobs: number;
  /** Accepted, but missing in the database or not ended. */
  lost: number;
  /**
   * Two outcomes, two pull requests, two jobs for one key, a stored turn paid for again, or an effect of a worker after
   * another had taken over its job.
   */
  duplicated: number;
  unexpected: readonly string[];
  recoveredMs: readonly number[];
}

/** Compares what callers were promised with the database and the services. Knows nothing about the experiment. */
export async function judge(db: Queryable, history: readonly Entry[]): Promise<Verdict> {
  const unexpected = history.flatMap((entry) => (entry.kind === "unexpected" ? [entry.what] : []));
  const recoveries = history.filter((entry) => entry.kind === "recovered");
  for (const { afterMs, msMax } of recoveries) {
    if (afterMs > msMax) unexpected.push(`recovered after ${Math.round(afterMs)} ms, ${msMax} allowed`);
  }
  const accepted = history.filter((entry) => entry.kind === "accepted");
  const ids = new Set(accepted.map(({ jobId }) => jobId));
  const { rows } = await db.query<{ id: string; status: string; failure_message: string | null }>(
    "select id, status, failure_message from jobs",
  );
  const stored = new Map(rows.map((row) => [row.id, row]));
  for (const { status, failure_message } of rows) {
    if (status === "failed") unexpected.push(`a job failed: ${failure_message}`);
  }
  unexpected.push(...(await projectsWithTooManyRuns(db)));
  const expected = history.findLast((entry) => entry.kind === "expected");
  if (expected && expected.jobs !== rows.length) unexpected.push(`${rows.length} jobs instead of ${expected.jobs}`);
  return {
    faults: history.filter(({ kind }) => kind === "fault").length,
    jobs: ids.size,
    lost: [...ids].filter((id) => (stored.get(id)?.status ?? "active") === "active").length,
    duplicated: (await countDuplicates(db)) + keysWithTwoJobs(accepted),
    unexpected,
    recoveredMs: recoveries.map(({ afterMs }) => afterMs),
  };
}

export function isGood(verdict: Verdict): boolean {
  return verdict.lost === 0 && verdict.duplicated === 0 && verdict.unexpected.length === 0;
}

async function countDuplicates(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>(`
    with sent as (
      select job_id, worker, at from pushes union all select job_id, worker, at from pulls
    )
    select (
      (select count(*) from (
         select job_id from job_events where kind in ('completed', 'failed', 'archived') group by job_id having count(*) > 1
       ) as outcomes)
      + (select count(*) from (select job_id from pulls group by job_id having count(*) > 1) as opened)
      + (select count(*) from turns join steps using (job_id, number) where turns.at > steps.created_at)
      -- The next turn is asked for once a step is stored: a run that begins later must not ask for the step's turn again.
      + (select count(*) from turns where exists (
           select from turns later join starts on starts.job_id = later.job_id and starts.at > later.at
           where later.job_id = turns.job_id and later.number > turns.number
             and starts.worker = turns.worker and starts.at < turns.at
         ))
      + (select count(*) from sent where exists (
           select from starts taken where taken.job_id = sent.job_id and taken.worker <> sent.worker and taken.at < sent.at
             and not exists (
               select from starts own where own.job_id = sent.job_id and own.worker = sent.worker
                 and own.at > taken.at and own.at < sent.at
             )
         ))
    )::int as count`);
  return rows[0]?.count ?? 0;
}

const lanesUsual = 4;

/** Projects that ran more jobs at once than they have lanes, according to their events. */
async function projectsWithTooManyRuns(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string; most: number; lanes: number }>(`
    with told as (
      select project_id, job_id, job_events.created_at as at,
        case when kind = 'run.started' then 1 else -1 end as change,
        lag(kind) over (partition by job_id order by seq) as before
      from job_events join jobs on jobs.id = job_id
      where kind in ('run.started', 'completed', 'failed', 'archived', 'job.question') or (kind = 'phase' and data ? 'reason')
    ), running as (
      select project_id, sum(change) over (partition by project_id order by at, change) as count
      from told where change = 1 or before = 'run.started'
    )
    select name, max(count)::int as most, coalesce((settings ->> 'lanes')::int, ${lanesUsual}) as lanes
    from running join projects on projects.id = project_id group by projects.id
    having max(count) > coalesce((settings ->> 'lanes')::int, ${lanesUsual})`);
  return rows.map(({ name, most, lanes }) => `${most} jobs ran at once in ${name}, which has ${lanes} lanes`);
}

function keysWithTwoJobs(accepted: readonly { jobId: string; idempotencyKey?: string }[]): number {
  const jobOf = new Map<string, string>();
  let count = 0;
  for (const { jobId, idempotencyKey } of accepted) {
    if (idempotencyKey === undefined) continue;
    if (jobOf.has(idempotencyKey) && jobOf.get(idempotencyKey) !== jobId) count += 1;
    jobOf.set(idempotencyKey, jobId);
  }
  return count;
}

/** What happened, in order, as seen by its cause. The judge reads only this and the database. */
export type Entry =
  /** The server answered 201 with this job. */
  | { kind: "accepted"; jobId: string; idempotencyKey?: string }
  | { kind: "expected"; jobs: number }
  | { kind: "fault"; what: string }
  /** From a fault until a job was claimed again. */
  | { kind: "recovered"; afterMs: number; msMax: number }
  /** Something that a promise forbids, seen from outside. */
  | { kind: "unexpected"; what: string }
  | { kind: "measured"; what: string; value: number; unit: string };

export interface History {
  add(entry: Entry): void;
  entries(): readonly Entry[];
}

/** In memory, and line by line in a file, so that a run that hangs can be inspected. */
export function openHistory(file: string | null): History {
  const entries: Entry[] = [];
  const startedAt = performance.now();
  if (file) writeFileSync(file, "");
  return {
    add(entry) {
      entries.push(entry);
      if (file)
        appendFileSync(file, `${JSON.stringify({ atMs: Math.round(performance.now() - startedAt), ...entry })}\n`);
    },
    entries: () => entries,
  };
}
