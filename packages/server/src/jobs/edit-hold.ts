import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { channels } from "../db/listener.ts";
import { type Queryable, toJsonb } from "../db/pool.ts";
import { figuresOf } from "./run/record-change.ts";

/** What a person's edit of a job's branch needs to know. */
export interface EditedJob {
  id: string;
  status: string;
  baseBranch: string | null;
  /** Where the branch left the base branch. Null if it was not recorded. */
  fork: string | null;
}

/** The job whose pull request this is. */
export async function findEditedJob(
  db: Queryable,
  pull: { projectId: string; number: number },
): Promise<EditedJob | null> {
  const { rows } = await db.query<EditedJob>(
    `select id, status, base_branch as "baseBranch", coalesce(fork_commit, base_commit) as fork
     from jobs where project_id = $1 and pull_request ->> 'number' = $2::text order by id desc limit 1`,
    [pull.projectId, pull.number],
  );
  return rows[0] ?? null;
}

/** Longer than a push may take. After a crash, the job waits this long. */
const holdMs = 60_000;

/**
 * Reserves a finished job's branch for one push. Meanwhile messages and retries are accepted, but their run starts
 * later, so that no run works on the branch as it was. Null while a run is active, or another edit is pushed.
 */
export async function holdForEdit(db: Queryable, jobId: string): Promise<string | null> {
  const { rows } = await db.query<{ editing: string }>(
    `update jobs set editing = $2, editing_until = clock_timestamp() + make_interval(secs => $3)
     where id = $1 and status <> 'active' and coalesce(editing_until, '-infinity') < clock_timestamp()
     returning editing`,
    [jobId, randomUUID(), holdMs / 1000],
  );
  return rows[0]?.editing ?? null;
}

export async function releaseEdit(db: Queryable, jobId: string, hold: string): Promise<void> {
  await db.query(
    `with freed as (
       update jobs set editing = null, editing_until = null,
         run_after = case when status = 'active' and lease is null then least(run_after, clock_timestamp()) else run_after end
       where id = $1 and editing = $2 returning project_id, status
     )
     select pg_notify('${channels.jobDue}', project_id) from freed where status = 'active'`,
    [jobId, hold],
  );
}

/** Replaces what the job shows of its change: the diff, the findings, and a notice of who edited what. */
export async function recordEdit(
  db: Queryable,
  jobId: string,
  hold: string,
  edit: { diff: Buffer; diffBase: string; findings: unknown; figures: unknown; notice: string },
): Promise<void> {
  await db.query(
    `with changed as (
       update jobs set diff = $3, diff_base = $4, findings = $5::jsonb, diff_figures = $6::jsonb,
         notices = notices || to_jsonb($7::text), event_seq = event_seq + 1, updated_at = clock_timestamp()
       where id = $1 and editing = $2 and status <> 'active'
       returning id, event_seq
     ), told as (
       insert into job_events (job_id, seq, kind, data) select id, event_seq, 'findings', $8::jsonb from changed
     )
     select pg_notify('${channels.jobChanged}', id) from changed`,
    [
      jobId,
      hold,
      await promisify(deflate)(edit.diff),
      edit.diffBase,
      toJsonb(edit.findings),
      toJsonb(figuresOf(edit.diff)),
      edit.notice,
      toJsonb(edit.figures),
    ],
  );
}
