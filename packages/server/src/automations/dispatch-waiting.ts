import type { AutomationDeps } from "./automations.ts";
import { dispatchAutomation } from "./dispatch-automation.ts";

/** Every automation with a run whose time has come; one that fails holds no other up. Gives how many were tried. */
export async function dispatchWaiting(deps: AutomationDeps): Promise<number> {
  const { rows } = await deps.pool.query<{ id: string }>(
    `select distinct automation_id as id from automation_runs where state = 'waiting' and try_at <= clock_timestamp()`,
  );
  for (const { id } of rows) {
    await dispatchAutomation(deps, id).catch((error: unknown) => {
      deps.log.warn({ err: error, automationId: id }, "could not dispatch an automation, retrying");
    });
  }
  return rows.length;
}
