import { type Retention, type RetentionName, type RetentionSetting, retentionNames } from "@emend/contract";
import type { Pool, Queryable } from "../db/pool.ts";
import { type Actor, inTransactionAs } from "../db/transaction.ts";

/** The SQL function `monthly_budgets` reads it. */
const budgetName = "monthlyBudget";

/** The dashboard overrides the environment. */
export async function readRetention(
  db: Queryable,
  environment: Retention,
): Promise<Record<RetentionName, RetentionSetting>> {
  const { rows } = await db.query<{ name: string; value: number | null }>(
    "select name, value from settings where name = any ($1)",
    [retentionNames],
  );
  const chosen = new Map(rows.map(({ name, value }) => [name, value]));
  const settings = retentionNames.map((name): [RetentionName, RetentionSetting] => {
    const own = chosen.get(name);
    if (own === undefined)
      return [name, { source: "environment", days: environment[name], environment: environment[name] }];
    return [name, { source: "dashboard", days: own, environment: environment[name] }];
  });
  return Object.fromEntries(settings) as Record<RetentionName, RetentionSetting>;
}

/** How old something may become, in days. Null: it is never deleted. */
export async function retentionDays(
  db: Queryable,
  name: RetentionName,
  environment: Retention,
): Promise<number | null> {
  return (await readRetention(db, environment))[name].days;
}

/** `"environment"` removes the dashboard's value. */
export async function setRetention(
  pool: Pool,
  edit: Partial<Record<RetentionName, number | null | "environment">>,
  actor: Actor,
): Promise<void> {
  await inTransactionAs(pool, actor, async (client) => {
    for (const [name, days] of Object.entries(edit)) {
      if (days === "environment") await client.query("delete from settings where name = $1", [name]);
      else
        await client.query(
          `insert into settings (name, value) values ($1, $2)
           on conflict (name) do update set value = excluded.value, updated_at = clock_timestamp()`,
          [name, JSON.stringify(days)],
        );
    }
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
