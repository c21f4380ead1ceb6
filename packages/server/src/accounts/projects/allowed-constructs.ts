import type { DashboardAllowedConstructs } from "@emend/contract";
import type { Queryable } from "../../db/pool.ts";

/** What people allowed on a project's site, newest first: such constructs are published without a question. */
export async function listAllowedConstructs(db: Queryable, projectId: string): Promise<DashboardAllowedConstructs> {
  const { rows } = await db.query<DashboardAllowedConstructs["allowed"][number]>(
    `select key, allowed_by as by, wire_time(allowed_at) as at, job_id as "jobId" from allowed_constructs
     where project_id = $1 order by allowed_at desc, key`,
    [projectId],
  );
  return { allowed: rows };
}

/** The next change with it is asked about again. False: it was not allowed. */
export async function removeAllowedConstruct(db: Queryable, projectId: string, key: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from allowed_constructs where project_id = $1 and key = $2", [
    projectId,
    key,
  ]);
  return rowCount === 1;
}
