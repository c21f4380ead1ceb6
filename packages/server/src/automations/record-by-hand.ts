import { randomUUID } from "node:crypto";
import type { Queryable } from "../db/pool.ts";
import type { Automation } from "./automation.ts";
import { dayOf, type Values } from "./values.ts";

/** Somebody asked for a run. After pushes it is about the last one again; gives the run's id. */
export async function recordByHand(db: Queryable, automation: Automation): Promise<string> {
  const { rows: known } = await db.query<{ now: Date; repository: string; last: Values | null }>(
    `select clock_timestamp() as now, repository_url as repository,
       (select values from automation_runs where automation_id = $1 and state <> 'skipped'
        order by created_at desc limit 1) as last
     from projects where id = $2`,
    [automation.id, automation.projectId],
  );
  const { now, repository, last } = known[0] as { now: Date; repository: string; last: Values | null };
  const { trigger } = automation;
  const date = dayOf(now, trigger.kind === "cron" ? trigger.timezone : "UTC");
  const values: Values = { commits: [], changedFiles: [], tag: null, repository, ...last, date };
  const { rows } = await db.query<{ id: string }>(
    `insert into automation_runs (automation_id, event, values, by_hand, words)
     values ($1, $2, $3, true, 'Waits for its turn.') returning id`,
    [automation.id, `by hand ${randomUUID()}`, values],
  );
  return (rows[0] as { id: string }).id;
}
