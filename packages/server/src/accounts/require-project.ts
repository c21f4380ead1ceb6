import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { getProject } from "./get-project.ts";
import type { Project } from "./project.ts";

/** For whoever named a project: that there is none is told, and not taken for one that is empty. */
export async function requireProject(db: Queryable, id: string): Promise<Project> {
  const project = await getProject(db, id);
  if (project) return project;
  throw new AppError("not_found", { publicMessage: `project not found: ${id}` });
}
