import type { Pool, Queryable } from "../db/pool.ts";
import { type Actor, inTransactionAs } from "../db/transaction.ts";

/** Where a setting's value comes from. The dashboard overrides the environment. */
export type ArchiveAfterDays =
  | { source: "dashboard"; days: number | null }
  | { source: "environment"; days: number | null };

const archiveName = "archiveAfterDays";
/** The SQL function `monthly_budgets` reads it. */
const budgetName = "monthlyBudget";

/** Days after which finished jobs are archived automatically. Null: never. */
export async function readArchiveAfterDays(db: Queryable, environment: number | null): Promise<ArchiveAfterDays> {
  const { rows } = await db.query<{ value: number | null }>("select value from settings where name = $1", [
    archiveName,
  ]);
  return rows[0] ? { source: "dashboard", days: rows[0].value } : { source: "environment", days: environment };
}

/** `"environment"` removes the dashboard's value. */
export async function setArchiveAfterDays(
  pool: Pool,
  days: number | null | "environment",
  actor: Actor,
): Promise<void> {
  await inTransactionAs(pool, actor, async (client) => {
    if (days === "environment") return client.query("delete from settings where name = $1", [archiveName]);
    return client.query(
      `insert into settings (name, value) values ($1, $2)
       on conflict (name) do update set value = excluded.value, updated_at = clock_timestamp()`,
      [archiveName, JSON.stringify(days)],
    );
  });
}

/** Per calendar month (UTC), for all projects together. Null: no limit. */
export interface MonthlyBudget {
  jobsMax: number | null;
  costUsdMax: number | null;
}

export async function readMonthlyBudget(db: Queryable): Promise<MonthlyBudget> {
  const { rows } = await db.query<{ value: MonthlyBudget }>("select value from settings where name = $1", [budgetName]);
  return rows[0]?.value ?? { jobsMax: null, costUsdMax: null };
}

/** Changes only the given limits. A wrong one would make every job fail, so it is refused here too. */
export async function setMonthlyBudget(pool: Pool, edit: Partial<MonthlyBudget>, actor: Actor): Promise<MonthlyBudget> {
  for (const limit of Object.values(edit)) {
    if (limit !== null && !Number.isFinite(limit)) throw new Error(`${JSON.stringify(limit)} is not a limit`);
  }
  return inTransactionAs(pool, actor, async (client) => {
    const { rows } = await client.query<{ value: MonthlyBudget }>(
      `insert into settings (name, value) values ($1, '{"jobsMax": null, "costUsdMax": null}'::jsonb || $2)
       on conflict (name) do update set value = settings.value || $2, updated_at = clock_timestamp() returning value`,
      [budgetName, JSON.stringify(edit)],
    );
    return rows[0]?.value as MonthlyBudget;
  });
}
