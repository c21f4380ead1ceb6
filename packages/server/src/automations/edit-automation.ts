import { isDeepStrictEqual } from "node:util";
import type { Queryable } from "../db/pool.ts";
import type { Automation } from "./automation.ts";
import { type AutomationText, checkAutomation, nameTaken } from "./check-automation.ts";
import { findAutomation } from "./find-automation.ts";
import { firstDue } from "./first-due.ts";

/** What is not given stays. Another trigger begins anew: what was there before it is no event. */
export async function editAutomation(
  deps: { db: Queryable; defaultModel: string },
  id: string,
  edit: Partial<AutomationText>,
): Promise<Automation> {
  const { db } = deps;
  const before = await findAutomation(db, id);
  const { name, trigger, prompt, model } = { ...before, ...edit };
  const { repositoryId } = await checkAutomation(deps, before.projectId, { name, trigger, prompt, model });
  const isAnew = repositoryId !== before.repositoryId || !isDeepStrictEqual(trigger, before.trigger);
  const dueAt = isAnew ? await firstDue(db, trigger) : before.dueAt;
  const { rowCount } = await db.query(
    `with edited as (
       update automations set name = $2, trigger = $3, repository_id = $4, prompt = $5, model = $6,
         due_at = case when $7 then $8::timestamptz else due_at end
       where id = $1 and not exists (
         select from automations other where other.project_id = automations.project_id and other.name = $2 and other.id <> $1)
       returning id
     ), forgotten as (delete from automation_refs using edited where $7 and automation_id = edited.id)
     select from edited`,
    [id, name, trigger, repositoryId, prompt, model, isAnew, dueAt],
  );
  if (rowCount !== 1) throw nameTaken(name);
  return findAutomation(db, id);
}
