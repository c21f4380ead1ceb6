import type { JobStatus } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";
import { toJobText, type WireRow, wireColumns } from "./wire-job.ts";

export interface JobPage {
  /** Newest first, each serialized as the wire shows it. */
  jobs: readonly string[];
  /** Null: there are no more. */
  next: string | null;
}

/** Ids sort by creation, so the last one shown is all that the next page needs to know. */
export async function listJobs(
  db: Queryable,
  projectId: string,
  options: { status: JobStatus | null; before: string | null; limit: number },
): Promise<JobPage> {
  const { rows } = await db.query<WireRow>({
    name: options.status === null ? "list-jobs" : "list-jobs-by-status",
    text: `select ${wireColumns} from jobs
      where project_id = $1 and id < coalesce($2, '~') ${options.status === null ? "and $4::text is null" : "and status = $4"}
      order by id desc limit $3`,
    values: [projectId, options.before, options.limit + 1, options.status],
  });
  const shown = rows.slice(0, options.limit);
  return { jobs: shown.map(toJobText), next: rows.length > shown.length ? (shown.at(-1)?.id ?? null) : null };
}
