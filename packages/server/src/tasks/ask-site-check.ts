import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";

export const siteCheckTask = "check_site";

/** Asked again before it is begun, it is the same one; a worker takes it within moments. */
export async function askSiteCheck(db: Queryable, projectId: string): Promise<void> {
  try {
    await db.query(
      `select emend_tasks.add_job('${siteCheckTask}', payload := json_build_object('projectId', $1::text),
         job_key := '${siteCheckTask}/' || $1, max_attempts := 3)`,
      [projectId],
    );
  } catch (error) {
    // The queue's schema is made by the first worker: until one has run, nobody could look.
    if (!["3F000", "42883"].includes(String((error as { code?: unknown }).code))) throw error;
    throw new AppError("unavailable", { publicMessage: "No worker has run yet, and it takes one to look at a site." });
  }
}
