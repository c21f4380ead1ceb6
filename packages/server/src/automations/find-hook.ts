import type { Automation } from "./automation.ts";
import type { AutomationDeps } from "./automations.ts";

/** Where the forge of a push trigger's repository may send its webhooks; null: there is none to set up. */
export interface ForgeHook {
  url: string;
  secret: string;
}

export async function findHook(
  deps: Pick<AutomationDeps, "pool" | "hookOf">,
  automation: Automation,
): Promise<ForgeHook | null> {
  if (!deps.hookOf || automation.repositoryId === null) return null;
  const { rows } = await deps.pool.query<{ forge: string }>("select forge from context_repositories where id = $1", [
    automation.repositoryId,
  ]);
  const forge = rows[0]?.forge;
  return forge === undefined || forge === "local" ? null : deps.hookOf(automation.projectId, forge);
}
