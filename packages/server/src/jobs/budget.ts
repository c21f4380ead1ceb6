import type { Queryable } from "../db/pool.ts";

/** A budget of the current month, and its usage. */
export interface BudgetState {
  scope: "project" | "installation";
  jobs: number;
  costUsd: number;
  /** Null: no limit. */
  jobsMax: number | null;
  costUsdMax: number | null;
}

/** Why a project may not start more this month. */
export interface BudgetRefusal {
  words: string;
  renewsInMs: number;
}

interface Row {
  scope: BudgetState["scope"];
  jobs: number;
  cost_usd: number;
  jobs_max: number | null;
  cost_usd_max: number | null;
}

/** Why a budget is used up, by the database's clock. */
export function budgetRefusal(row: Row & { at: string }): BudgetRefusal {
  const at = new Date(row.at);
  const renewsAt = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1));
  const day = renewsAt.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
  const whose = row.scope === "project" ? "This project" : "This installation";
  const where = row.scope === "project" ? "in the project's settings" : "in the installation's settings";
  return {
    words: `${whose} used its monthly budget of ${limitWords(stateOf(row))}. It renews on ${day} (UTC). To continue now, raise it ${where}.`,
    renewsInMs: renewsAt.getTime() - at.getTime(),
  };
}

/** The limit that is used up, in words. */
function limitWords({ jobs, jobsMax, costUsd, costUsdMax }: BudgetState): string {
  if (costUsdMax !== null && costUsd >= costUsdMax) return `$${costUsdMax}`;
  return jobsMax === null || jobs < jobsMax ? "" : `${jobsMax} ${jobsMax === 1 ? "job" : "jobs"}`;
}

/** Null if a follow-up, which is not a new job, may cost something. Call it under the lock of the project's quota. */
export async function findBudgetRefusal(client: Queryable, projectId: string): Promise<BudgetRefusal | null> {
  const { rows } = await client.query<{ refusal: (Row & { at: string }) | null }>(
    "select refused_by_budget($1, 0) as refusal",
    [projectId],
  );
  return rows[0]?.refusal ? budgetRefusal(rows[0].refusal) : null;
}

/** Why a run must stop before its next turn, or null. */
export async function spentBudget(db: Queryable, projectId: string): Promise<string | null> {
  const { rows } = await db.query<Row>({
    name: "spent-budget",
    text: "select * from monthly_budgets($1, clock_timestamp()) where cost_usd >= cost_usd_max order by scope desc limit 1",
    values: [projectId],
  });
  return rows[0] ? `the ${rows[0].scope}'s monthly budget of $${rows[0].cost_usd_max} was used up` : null;
}

/** The budgets of the installation and of every project, the installation's first. */
export async function listBudgets(db: Queryable): Promise<readonly NamedBudget[]> {
  const { rows } = await db.query<Row & Omit<NamedBudget, keyof BudgetState>>(
    `select budget.*, nullif(asked.id, '') as "projectId", asked.name as project,
       to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM') as month
     from (select id, name from projects where settings ? 'monthlyBudget' union all select '', null) asked
     cross join lateral monthly_budgets(asked.id, clock_timestamp()) budget
     where (budget.scope = 'project') = (asked.id <> '') order by asked.id <> '', asked.name`,
  );
  return rows.map(({ projectId, project, month, ...row }) => ({ ...stateOf(row), projectId, project, month }));
}

interface NamedBudget extends BudgetState {
  /** Null: the installation's. */
  projectId: string | null;
  project: string | null;
  /** Such as 2026-03. */
  month: string;
}

/** The larger of both shares. 1 means used up. */
export function shareOf({ jobs, jobsMax, costUsd, costUsdMax }: Omit<BudgetState, "scope">): number {
  const share = (used: number, max: number | null) => (max === null ? 0 : max === 0 ? 1 : used / max);
  return Math.max(share(jobs, jobsMax), share(costUsd, costUsdMax));
}

function stateOf(row: Row): BudgetState {
  const { scope, jobs, cost_usd: costUsd, jobs_max: jobsMax, cost_usd_max: costUsdMax } = row;
  return { scope, jobs, costUsd, jobsMax, costUsdMax };
}
