import type { AutomationDeps } from "./automations.ts";
import { dispatchWaiting } from "./dispatch-waiting.ts";
import { fireDue } from "./fire-due.ts";
import { lookAtPushes, type PushDeps } from "./look-at-pushes.ts";
import { tellOrphans } from "./tell-orphans.ts";

/** What is done every minute: what is due becomes runs, and runs that wait become jobs. Gives how many were tried. */
export async function fireAutomations(deps: AutomationDeps & PushDeps): Promise<number> {
  await fireDue(deps.pool);
  // Times do not wait for repositories, which may take their while.
  const timed = await dispatchWaiting(deps);
  await lookAtPushes(deps);
  await tellOrphans(deps);
  return timed + (await dispatchWaiting(deps));
}
