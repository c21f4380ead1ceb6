import { channels } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";

const steps = [
  { percent: 80, event: "budget.warning" },
  { percent: 100, event: "budget.exceeded" },
] as const;

interface Due {
  /** A project's id. Empty: the installation. */
  scope: string;
  month: string;
}

/**
 * Sends webhooks about budgets that are nearly or fully used: those of the project, or for the installation's budget
 * those of every project. Once per month and threshold. Returns how many.
 */
export async function warnOfBudgets(pool: Pool): Promise<number> {
  let told = 0;
  for (const { percent, event } of steps) {
    const { rows } = await pool.query<Due>(
      `select case when budget.scope = 'project' then asked.id else '' end as scope,
         to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM') as month
       from (select id from projects where settings ? 'monthlyBudget' union all select '') asked
       cross join lateral monthly_budgets(asked.id, clock_timestamp()) budget
       where (budget.scope = 'project') = (asked.id <> '')
         and (jobs * 100 >= jobs_max * $1::float8 or cost_usd * 100 >= cost_usd_max * $1::float8)`,
      [percent],
    );
    for (const due of rows) told += (await tellOnce(pool, due, { percent, event })) ? 1 : 0;
  }
  return told;
}

async function tellOnce(pool: Pool, due: Due, step: { percent: number; event: string }): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rowCount } = await client.query(
      `insert into budget_warnings (scope, month, percent) values ($1, ($2 || '-01')::date, $3) on conflict do nothing`,
      [due.scope, due.month, step.percent],
    );
    if (rowCount === 0) return false;
    await client.query(
      `with sent as (
         insert into deliveries (webhook_id, event, payload)
         select webhooks.id, $3, jsonb_build_object('type', $3::text, 'timestamp', wire_time(clock_timestamp()),
           'data', jsonb_build_object('projectId', webhooks.project_id, 'scope', budget.scope, 'month', $2::text,
             'jobs', jsonb_build_object('used', jobs, 'max', jobs_max),
             'costUsd', jsonb_build_object('used', cost_usd, 'max', cost_usd_max)))
         from webhooks cross join monthly_budgets(webhooks.project_id, clock_timestamp()) budget
         where disabled_at is null and $3 = any (events)
           and case when $1 = '' then budget.scope = 'installation'
               else budget.scope = 'project' and webhooks.project_id = $1 end
         returning id
       )
       select pg_notify('${channels.deliveryDue}', '') from sent limit 1`,
      [due.scope, due.month, step.event],
    );
    return true;
  });
}
