import type { Queryable } from "../db/pool.ts";
import { inBatches } from "./in-batches.ts";

/** An automation's history; what still waits stays, and so does what made a job: it says what people closed. */
export async function dropAutomationRuns(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(1000, (rowsMax) =>
    db.query(
      `delete from automation_runs where id in (
         select id from automation_runs
         where settled_at < now() - make_interval(days => $1) and state in ('merged', 'skipped') limit $2)`,
      [afterDays, rowsMax],
    ),
  );
}
