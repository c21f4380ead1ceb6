import type { Queryable } from "../db/pool.ts";
import { type Project, type ProjectRow, projectColumns, toProject } from "./project.ts";

/** Undefined: there is no such project. */
export async function getProject(db: Queryable, id: string): Promise<Project | undefined> {
  const { rows } = await db.query<ProjectRow>({
    name: "get-project",
    text: `select ${projectColumns} from projects where id = $1`,
    values: [id],
  });
  return rows[0] && toProject(rows[0]);
}
