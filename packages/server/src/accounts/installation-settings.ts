import { type Actor, inTransactionAs } from "../db/acting.ts";
import type { Pool, Queryable } from "../db/pool.ts";

/** Where a setting's value comes from: the dashboard's wins over the environment's. */
export type ArchiveAfterDays =
  | { source: "dashboard"; days: number | null }
  | { source: "environment"; days: number | null };

const name = "archiveAfterDays";

/** Days after which final jobs are archived by themselves; null: never. */
export async function readArchiveAfterDays(db: Queryable, environment: number | null): Promise<ArchiveAfterDays> {
  const { rows } = await db.query<{ value: number | null }>("select value from settings where name = $1", [name]);
  return rows[0] ? { source: "dashboard", days: rows[0].value } : { source: "environment", days: environment };
}

/** `"environment"` takes the dashboard's word back. */
export async function setArchiveAfterDays(
  pool: Pool,
  days: number | null | "environment",
  actor: Actor,
): Promise<void> {
  await inTransactionAs(pool, actor, async (client) => {
    if (days === "environment") return client.query("delete from settings where name = $1", [name]);
    return client.query(
      `insert into settings (name, value) values ($1, $2)
       on conflict (name) do update set value = excluded.value, updated_at = clock_timestamp()`,
      [name, JSON.stringify(days)],
    );
  });
}
