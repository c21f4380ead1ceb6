import type { Queryable } from "../db/pool.ts";
import type { Trigger } from "./automation.ts";
import { nextDue } from "./cron.ts";
import { dayOf, type Values } from "./values.ts";

interface DueRow {
  id: string;
  trigger: Extract<Trigger, { kind: "cron" }>;
  dueAt: Date;
  now: Date;
  repository: string;
}

const dueMax = 500;

/**
 * Turns every cron time that has come into a run that waits, by the database's clock. Of nodes that see the same time,
 * one moves the automation on; times that passed while no node ran become one run. Gives how many.
 */
export async function fireDue(db: Queryable): Promise<number> {
  const { rows } = await db.query<DueRow>(
    `select automations.id, trigger, due_at as "dueAt", clock_timestamp() as now, repository_url as repository
     from automations join projects on projects.id = project_id
     where trigger ->> 'kind' = 'cron' and paused_at is null and due_at <= clock_timestamp()
     order by due_at limit $1`,
    [dueMax],
  );
  let fired = 0;
  for (const row of rows) fired += await fire(db, row);
  return fired;
}

async function fire(db: Queryable, row: DueRow): Promise<number> {
  const { id, trigger, dueAt, now, repository } = row;
  const date = dayOf(dueAt, trigger.timezone);
  const values: Values = { commits: [], changedFiles: [], tag: null, date, repository };
  const { rowCount } = await db.query(
    `with due as (
       update automations set due_at = $3 where id = $1 and due_at = $2 and paused_at is null returning id
     )
     insert into automation_runs (automation_id, event, values, words)
     select id, $4, $5, 'Waits for its turn.' from due
     on conflict (automation_id, event) do nothing`,
    [id, dueAt, nextDue(trigger, now), `cron ${dueAt.toISOString()}`, values],
  );
  return rowCount ?? 0;
}
