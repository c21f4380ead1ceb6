import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { Queryable } from "../db/pool.ts";

/** A file as the job leaves it, while its contents are kept; null: it was not edited, is deleted, or is kept no more. */
export async function readEditedFile(db: Queryable, jobId: string, path: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ content: Buffer | null }>(
    "select content from overlay where job_id = $1 and path = $2",
    [jobId, path],
  );
  const content = rows[0]?.content ?? null;
  return content && promisify(inflate)(content);
}
