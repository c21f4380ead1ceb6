import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { type Automation, automationColumns } from "./automation.ts";

/** The database refuses to hear of some texts, such as U+0000; no id holds them. */
const form = /^[0-9A-Za-z_-]{1,64}$/;

export async function findAutomation(db: Queryable, id: string): Promise<Automation> {
  if (form.test(id)) {
    const { rows } = await db.query<Automation>(`select ${automationColumns} from automations where id = $1`, [id]);
    if (rows[0]) return rows[0];
  }
  throw new AppError("not_found", { publicMessage: `automation not found: ${id.slice(0, 64)}` });
}
