import type { Queryable } from "../db/pool.ts";
import type { Trigger } from "./automation.ts";
import { nextDue } from "./cron.ts";

/** From now on, by the database's clock: what was due before is nobody's business. */
export async function firstDue(db: Queryable, trigger: Trigger): Promise<Date | null> {
  if (trigger.kind === "manual") return null;
  const { rows } = await db.query<{ now: Date }>("select clock_timestamp() as now");
  const now = (rows[0] as { now: Date }).now;
  // A push trigger looks at once, to know what was there before it.
  return trigger.kind === "cron" ? nextDue(trigger, now) : now;
}
