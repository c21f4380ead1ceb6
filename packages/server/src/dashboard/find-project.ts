import { getProject } from "../accounts/get-project.ts";
import type { Project } from "../accounts/project.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";

/** The database refuses to hear of some texts, such as U+0000; no id holds them. */
const form = /^[0-9A-Za-z_-]{1,64}$/;

export async function findProject(db: Queryable, id: string): Promise<Project> {
  const project = form.test(id) ? await getProject(db, id) : undefined;
  if (project) return project;
  throw new AppError("not_found", { publicMessage: "Project not found." });
}
