import type { Queryable } from "../db/pool.ts";
import { type Project, type ProjectRow, projectColumns, toProject } from "./project.ts";

/** Every project, oldest first. */
export async function listProjects(db: Queryable): Promise<readonly Project[]> {
  const { rows } = await db.query<ProjectRow>(`select ${projectColumns} from projects order by created_at, id`);
  return rows.map(toProject);
}
