import type { Queryable } from "../db/pool.ts";

/** False where it was heard before, by whichever node. */
export async function hearComment(db: Queryable, jobId: string, commentId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update jobs set comments_heard = array_append(comments_heard, $2)
     where id = $1 and not ($2 = any (comments_heard))`,
    [jobId, commentId],
  );
  return rowCount === 1;
}

/** It could not be acted on just now: the next look hears it again. */
export async function unhearComment(db: Queryable, jobId: string, commentId: string): Promise<void> {
  await db.query("update jobs set comments_heard = array_remove(comments_heard, $2) where id = $1", [jobId, commentId]);
}
