import type { Queryable } from "../../db/pool.ts";
import type { CommitStatus } from "../forge.ts";

/** A row of local_statuses. */
export interface LocalStatus {
  name: string;
  state: CommitStatus["state"];
  words: string;
  url: string;
  at: Date;
}

export async function saveStatus(db: Queryable, projectId: string, status: CommitStatus): Promise<void> {
  await db.query(
    `insert into local_statuses (project_id, commit_id, name, state, words, url) values ($1, $2, $3, $4, $5, $6)
     on conflict (project_id, commit_id, name) do update set state = excluded.state, words = excluded.words,
       url = excluded.url, updated_at = clock_timestamp()`,
    [projectId, status.commit, status.name, status.state, status.words, status.url],
  );
}

export async function listStatuses(db: Queryable, projectId: string, commit: string): Promise<readonly LocalStatus[]> {
  const { rows } = await db.query<LocalStatus>(
    `select name, state, words, url, updated_at as at from local_statuses
     where project_id = $1 and commit_id = $2 order by name`,
    [projectId, commit],
  );
  return rows;
}
