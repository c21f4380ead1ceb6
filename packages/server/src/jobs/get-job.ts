import type { Queryable } from "../db/pool.ts";
import { isJobId } from "./job-id.ts";
import { toWireJob, type WireJob, type WireRow, wireColumns } from "./wire-job.ts";

/** Undefined: there is no such job. */
export async function getJob(db: Queryable, id: string): Promise<WireJob | undefined> {
  if (!isJobId(id)) return undefined;
  const { rows } = await db.query<WireRow>({
    name: "get-job",
    text: `select ${wireColumns} from jobs where id = $1`,
    values: [id],
  });
  return rows[0] && toWireJob(rows[0]);
}
