import type { Queryable } from "../db/pool.ts";
import { type Automation, automationColumns } from "./automation.ts";
import { type AutomationText, checkAutomation, nameTaken } from "./check-automation.ts";
import { firstDue } from "./first-due.ts";

export interface NewAutomation extends Omit<AutomationText, "model"> {
  projectId: string;
  model?: string | null;
  createdBy: string;
}

export async function addAutomation(
  deps: { db: Queryable; defaultModel: string },
  input: NewAutomation,
): Promise<Automation> {
  const { db } = deps;
  const { projectId, name, trigger, prompt, model = null } = input;
  const { repositoryId } = await checkAutomation(deps, projectId, { name, trigger, prompt, model });
  const { rows } = await db.query<Automation>(
    `insert into automations (project_id, name, trigger, repository_id, prompt, model, due_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (project_id, name) do nothing returning ${automationColumns}`,
    [projectId, name, trigger, repositoryId, prompt, model, await firstDue(db, trigger), input.createdBy],
  );
  if (rows[0]) return rows[0];
  throw nameTaken(name);
}
