import type { Client } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { type Automation, automationColumns, type WaitingRun } from "./automation.ts";
import type { AutomationDeps } from "./automations.ts";
import { decideRuns } from "./decide-runs.ts";
import { settleRuns } from "./settle-runs.ts";

/**
 * Everything that waits at one automation becomes one job, one message, or a reason why not; stored together with it,
 * so that whatever is cut off, an event is neither lost nor asked for twice.
 */
export async function dispatchAutomation(deps: AutomationDeps, id: string): Promise<void> {
  await refreshPullRequest(deps, id);
  const due = new Set<string>();
  const settlement = await inTransaction(deps.pool, async (client) => {
    // Two nodes that dispatch the same automation go one after the other: the second finds nothing waiting.
    const { rows } = await client.query<Automation>(
      `select ${automationColumns} from automations where id = $1 for no key update`,
      [id],
    );
    const runs = rows[0] ? await waitingRuns(client, id) : [];
    if (!rows[0] || runs.length === 0) return null;
    const decided = await decideRuns(
      { ...deps, client, announceDue: (projectId) => due.add(projectId) },
      rows[0],
      runs,
    );
    await settleRuns(client, rows[0], runs, decided);
    return decided;
  });
  for (const projectId of due) deps.announceDue(projectId);
  if (!settlement) return;
  const { state } = settlement;
  const jobId = state === "waiting" ? null : settlement.jobId;
  deps.log.info({ automationId: id, state, ...(jobId !== null && { jobId }) }, "automation dispatched");
  deps.onSettled?.(state);
}

/** Asked before the transaction: none is open while a forge is waited for. */
async function refreshPullRequest(deps: AutomationDeps, id: string): Promise<void> {
  const { rows } = await deps.pool.query<{ projectId: string; number: number }>(
    `select jobs.project_id as "projectId", (pull_request ->> 'number')::int as number
     from automations join jobs on jobs.id = job_id
     where automations.id = $1 and pull_request ->> 'state' = 'open' and status <> 'active'`,
    [id],
  );
  if (!rows[0]) return;
  const { projectId, number } = rows[0];
  const state = await deps.pullRequestState(projectId, number);
  if (state === null || state === "open") return;
  await deps.pool.query("select settle_pull_request($1, $2, $3)", [projectId, number, state]);
}

async function waitingRuns(client: Client, id: string): Promise<readonly WaitingRun[]> {
  const { rows } = await client.query<WaitingRun>(
    `select id, values, by_hand as "byHand" from automation_runs
     where automation_id = $1 and state = 'waiting' and try_at <= clock_timestamp() order by created_at, id`,
    [id],
  );
  return rows;
}
