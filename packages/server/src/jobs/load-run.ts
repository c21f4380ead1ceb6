import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { Queryable } from "../db/pool.ts";
import type { StoredEdit, StoredStep } from "./record-step.ts";

/** What earlier runs of a job stored: any node goes on from here. */
export async function loadRun(
  db: Queryable,
  jobId: string,
): Promise<{ steps: readonly StoredStep[]; edits: readonly StoredEdit[] }> {
  const [steps, edits] = await Promise.all([loadSteps(db, jobId), loadEdits(db, jobId)]);
  return { steps, edits };
}

async function loadSteps(db: Queryable, jobId: string): Promise<readonly StoredStep[]> {
  const { rows } = await db.query<StoredStep>(
    "select number, messages, usage from steps where job_id = $1 order by number",
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
