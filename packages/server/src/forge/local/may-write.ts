import type { Queryable } from "../../db/pool.ts";

/** Whether the author of a comment may write by now: who was demoted or removed since asks for nothing more. */
export async function mayWrite(db: Queryable, author: string): Promise<boolean> {
  // Whoever a link of the console let in may do everything.
  if (author === "console") return true;
  const { rowCount } = await db.query("select from users where lower(email) = lower($1) and role <> 'viewer'", [
    author,
  ]);
  return rowCount === 1;
}
