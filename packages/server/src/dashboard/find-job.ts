import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { isJobId } from "../jobs/job-id.ts";

/** A job of whichever project, or `not_found`. */
export async function findJob(db: Queryable, id: string): Promise<{ id: string; projectId: string }> {
  if (isJobId(id)) {
    const { rows } = await db.query<{ id: string; projectId: string }>({
      name: "dashboard-find-job",
      text: `select id, project_id as "projectId" from jobs where id = $1`,
      values: [id],
    });
    if (rows[0]) return rows[0];
  }
  throw new AppError("not_found", { publicMessage: "Job not found." });
}
