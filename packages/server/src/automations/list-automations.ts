import type { Queryable } from "../db/pool.ts";
import { type Automation, automationColumns } from "./automation.ts";

/** Of one project, or of all; oldest first. */
export async function listAutomations(db: Queryable, projectId: string | null): Promise<readonly Automation[]> {
  const { rows } = await db.query<Automation>(
    `select ${automationColumns} from automations where $1::text is null or project_id = $1 order by created_at, id`,
    [projectId],
  );
  return rows;
}
