import type { Queryable } from "../db/pool.ts";
import { findAutomation } from "./find-automation.ts";

/** With its history. Jobs that it made, and their pull requests, stay. */
export async function removeAutomation(db: Queryable, id: string): Promise<void> {
  await findAutomation(db, id);
  await db.query("delete from automations where id = $1", [id]);
}
