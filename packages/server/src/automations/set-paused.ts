import type { Queryable } from "../db/pool.ts";
import type { Automation } from "./automation.ts";
import { findAutomation } from "./find-automation.ts";
import { firstDue } from "./first-due.ts";

/** A paused automation runs by hand alone. Resumed, it begins anew: what it missed is not made up for. */
export async function setPaused(db: Queryable, id: string, isPaused: boolean): Promise<Automation> {
  const { trigger, pausedAt } = await findAutomation(db, id);
  if (isPaused) {
    await db.query("update automations set paused_at = clock_timestamp() where id = $1 and paused_at is null", [id]);
  } else if (pausedAt !== null) {
    await db.query(
      `with resumed as (update automations set paused_at = null, due_at = $2 where id = $1 returning id)
       delete from automation_refs using resumed where automation_id = resumed.id`,
      [id, await firstDue(db, trigger)],
    );
  }
  return findAutomation(db, id);
}
