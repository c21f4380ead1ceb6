import type { Queryable } from "../../db/pool.ts";
import { newId } from "../../lib/id.ts";

/** A row of local_pull_request_comments. */
export interface LocalComment {
  id: string;
  author: string;
  body: string;
  createdAt: Date;
}

const shownMax = 500;

/** Oldest first. If there are very many, only the latest. */
export async function listComments(db: Queryable, projectId: string, number: number): Promise<readonly LocalComment[]> {
  const { rows } = await db.query<LocalComment>(
    `select * from (
       select id, author, body, created_at as "createdAt" from local_pull_request_comments
       where project_id = $1 and number = $2 order by created_at desc, id limit $3
     ) latest order by "createdAt", id`,
    [projectId, number, shownMax],
  );
  return rows;
}

/** The pull request must exist. */
export async function insertComment(
  db: Queryable,
  comment: { projectId: string; number: number; author: string; body: string },
): Promise<void> {
  await db.query(
    "insert into local_pull_request_comments (id, project_id, number, author, body) values ($1, $2, $3, $4, $5)",
    [newId("cmt"), comment.projectId, comment.number, comment.author, comment.body],
  );
}
