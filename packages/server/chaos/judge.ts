import type { Queryable } from "../src/db/pool.ts";
import type { Entry } from "./history.ts";

export interface Verdict {
  faults: number;
  jobs: number;
  /** Accepted, and not in the database or not at an end. */
  lost: number;
  /** Two outcomes, two pull requests, two jobs for one key, or a turn paid for again after its step was stored. */
  duplicated: number;
  unexpected: readonly string[];
  recoveredMs: readonly number[];
}

/** Compares what was promised to callers with what the database and the far ends hold. Knows nothing of the experiment. */
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
    select (
      (select count(*) from (
         select job_id from job_events where kind in ('completed', 'failed', 'archived') group by job_id having count(*) > 1
       ) as outcomes)
      + (select count(*) from (select job_id from pulls group by job_id having count(*) > 1) as opened)
      + (select count(*) from turns join steps using (job_id, number) where turns.at > steps.created_at)
    )::int as count`);
  return rows[0]?.count ?? 0;
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
