import { type Command, InvalidArgumentError } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../cli.ts";
import { table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

/** Not null: commander makes an empty string of it. */
type Limit = number | "none";

interface BudgetOptions extends AdminOptions {
  usd?: Limit;
  jobs?: Limit;
}

export function registerBudget(program: Command, cli: Cli): void {
  const command = program
    .command("budget")
    .description("show the monthly budgets, or set the one of the whole installation")
    .option("--usd <dollars>", "dollars per month for all projects, or none", parseLimit)
    .option("--jobs <count>", "jobs per month for all projects, or none", parseCount);
  withJson(withData(command)).action((options: BudgetOptions) => showBudgets(cli, options));
}

async function showBudgets(cli: Cli, options: BudgetOptions): Promise<void> {
  const { usd, jobs } = options;
  const budgets = await withAdmin(cli, options, async (admin) => {
    const edit = {
      ...(usd !== undefined && { costUsdMax: usd === "none" ? null : usd }),
      ...(jobs !== undefined && { jobsMax: jobs === "none" ? null : jobs }),
    };
    if (Object.keys(edit).length > 0) await admin.setMonthlyBudget(edit);
    return admin.listBudgets();
  });
  if (budgets.length === 0) {
    const hint = "emend project settings PROJECT monthlyBudget.costUsdMax=50";
    say(cli, options, `No monthly budget is set. For all projects: emend budget --usd 200. For one: ${hint}`);
    if (!options.json) return;
  }
  const rows = budgets.map(({ project, projectId, month, costUsd, costUsdMax, jobs: made, jobsMax }) => [
    projectId === null ? "all projects" : `${project} (${projectId})`,
    month,
    costUsdMax === null ? `$${costUsd.toFixed(2)}` : `$${costUsd.toFixed(2)} of $${costUsdMax}`,
    jobsMax === null ? String(made) : `${made} of ${jobsMax}`,
  ]);
  printResult(cli, options, budgets, table([["BUDGET OF", "MONTH", "SPENT", "JOBS"], ...rows]));
}

function parseCount(text: string): Limit {
  const count = parseLimit(text);
  if (count === "none" || Number.isInteger(count)) return count;
  throw new InvalidArgumentError("Use a whole number, or none.");
}

function parseLimit(text: string): Limit {
  if (text === "none") return text;
  const limit = Number(text);
  if (text.trim() !== "" && Number.isFinite(limit) && limit >= 0 && limit <= 1_000_000_000) return limit;
  throw new InvalidArgumentError("Use a number from 0, or none.");
}
