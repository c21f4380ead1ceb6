import type { AutomationDeps } from "./automations.ts";
import { dispatchWaiting } from "./dispatch-waiting.ts";
import { fireDue } from "./fire-due.ts";

/** What is done every minute: what is due becomes runs, and runs that wait become jobs. Gives how many were tried. */
export async function fireAutomations(deps: AutomationDeps): Promise<number> {
  await fireDue(deps.pool);
  return dispatchWaiting(deps);
}
