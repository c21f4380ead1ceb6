import type { Queryable } from "../db/pool.ts";

export const automationsTask = "fire_automations";

/** Lets a worker look at automations now. A hint: they are looked at every minute, and a queue that is not there yet is too. */
export async function askAutomations(db: Queryable): Promise<void> {
  await db
    .query(`select emend_tasks.add_job('${automationsTask}', job_key := '${automationsTask}', max_attempts := 3)`)
    .catch(() => {});
}
