import type { Queryable } from "../db/pool.ts";
import { type AutomationRun, runColumns } from "./automation.ts";

const runsShownMax = 50;

/** What it did, newest first. */
export async function listRuns(db: Queryable, automationId: string): Promise<readonly AutomationRun[]> {
  const { rows } = await db.query<AutomationRun>(
    `select ${runColumns} from automation_runs where automation_id = $1 order by created_at desc, id desc limit $2`,
    [automationId, runsShownMax],
  );
  return rows;
}

export async function findRun(db: Queryable, id: string): Promise<AutomationRun> {
  const { rows } = await db.query<AutomationRun>(`select ${runColumns} from automation_runs where id = $1`, [id]);
  return rows[0] as AutomationRun;
}
