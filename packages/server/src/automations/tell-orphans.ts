import { type Automation, automationColumns, isOrphaned } from "./automation.ts";
import type { AutomationDeps } from "./automations.ts";
import { dayOf } from "./values.ts";

/** Says of every push trigger without a repository that it watches nothing: in its history and the log, once a day. */
export async function tellOrphans(deps: Pick<AutomationDeps, "pool" | "log">): Promise<void> {
  const { rows } = await deps.pool.query<Automation & { now: Date }>(
    `select ${automationColumns}, clock_timestamp() as now from automations where ${isOrphaned} and paused_at is null`,
  );
  for (const { id, projectId, problem, now } of rows) {
    const { rowCount } = await deps.pool.query(
      `insert into automation_runs (automation_id, event, values, state, words, settled_at)
       values ($1, $2, '{}', 'skipped', $3, clock_timestamp()) on conflict (automation_id, event) do nothing`,
      [id, `orphaned ${dayOf(now, "UTC")}`, problem],
    );
    if (rowCount === 1) deps.log.warn({ automationId: id, projectId }, "automation has lost its context repository");
  }
}
