import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { Queryable } from "../db/pool.ts";
import { isJobId } from "./job-id.ts";

/** The bytes of the unified diff, empty where there is none; null: the project has no such job. */
export async function readDiff(db: Queryable, job: { id: string; projectId: string }): Promise<Buffer | null> {
  if (!isJobId(job.id)) return null;
  const { rows } = await db.query<{ diff: Buffer | null }>("select diff from jobs where id = $1 and project_id = $2", [
    job.id,
    job.projectId,
  ]);
  if (rows[0] === undefined) return null;
  return rows[0].diff === null ? Buffer.alloc(0) : promisify(inflate)(rows[0].diff);
}
