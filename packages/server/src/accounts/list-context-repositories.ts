import type { Queryable } from "../db/pool.ts";
import { type ContextRepository, contextRepositoryColumns } from "./context-repository.ts";

/** Those of one project, by name. */
export async function listContextRepositories(db: Queryable, projectId: string): Promise<readonly ContextRepository[]> {
  const { rows } = await db.query<ContextRepository>(
    `select ${contextRepositoryColumns} from context_repositories where project_id = $1 order by name`,
    [projectId],
  );
  return rows;
}
