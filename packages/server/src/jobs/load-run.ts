import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { Queryable } from "../db/pool.ts";
import type { StoredEdit, StoredStep } from "./record-step.ts";

/** What earlier runs of a job stored: any node goes on from here. */
export async function loadRun(
  db: Queryable,
  jobId: string,
): Promise<{ steps: readonly StoredStep[]; followUps: readonly StoredFollowUp[]; edits: readonly StoredEdit[] }> {
  const [steps, followUps, edits] = await Promise.all([
    loadSteps(db, jobId),
    loadFollowUps(db, jobId),
    loadEdits(db, jobId),
  ]);
  return { steps, followUps, edits };
}

interface StoredFollowUp {
  prompt: string;
  afterStep: number;
}

async function loadFollowUps(db: Queryable, jobId: string): Promise<readonly StoredFollowUp[]> {
  const { rows } = await db.query<StoredFollowUp>(
    `select prompt, after_step as "afterStep" from job_messages where job_id = $1 order by number`,
    [jobId],
  );
  return rows;
}

async function loadSteps(db: Queryable, jobId: string): Promise<readonly StoredStep[]> {
  const { rows } = await db.query<StoredStep>(
    "select number, coalesce(said, messages::json) as messages, usage from steps where job_id = $1 order by number",
    [jobId],
  );
  return rows;
}

async function loadEdits(db: Queryable, jobId: string): Promise<readonly StoredEdit[]> {
  const { rows } = await db.query<StoredEdit>(
    "select path, mode, content from overlay where job_id = $1 order by path",
    [jobId],
  );
  const contents = await Promise.all(rows.map((row) => row.content && promisify(inflate)(row.content)));
  return rows.map((row, index) => ({ ...row, content: contents[index] ?? null }));
}
