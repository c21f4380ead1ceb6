import type { Pool } from "./db/pool.ts";

export interface SettleDeps {
  pool: Pool;
  /** Null: its forge does not say now. */
  readState(projectId: string, number: number): Promise<"open" | "merged" | "closed" | null>;
}

/** Enough for every five minutes, and no burden on a forge; where more are open, chance takes them in turn. */
const lookedAtMax = 60;
const lookedAtDays = 30;

/** The local forge tells by itself (a trigger); the others are asked. Gives how many were merged or closed. */
export async function settlePullRequests(deps: SettleDeps): Promise<number> {
  const { rows } = await deps.pool.query<{ project_id: string; number: number }>(
    `select project_id, (pull_request ->> 'number')::int as number
     from jobs join projects on projects.id = project_id
     where forge <> 'local' and pull_request ->> 'state' = 'open' and status <> 'active'
       and ended_at > now() - make_interval(days => $1)
     order by random() limit $2`,
    [lookedAtDays, lookedAtMax],
  );
  let settled = 0;
  for (const { project_id: projectId, number } of rows) {
    const state = await deps.readState(projectId, number);
    if (state === null || state === "open") continue;
    await deps.pool.query("select settle_pull_request($1, $2, $3)", [projectId, number, state]);
    settled += 1;
  }
  return settled;
}
