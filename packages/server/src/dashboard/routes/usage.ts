import type { DashboardBudget, DashboardUsage } from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../../errors.ts";
import { listBudgets, shareOf } from "../../jobs/budget.ts";
import { csvFile } from "../csv.ts";
import type { RouteDeps } from "../dashboard.ts";
import { readUsage, readUsageLines, type UsageLine } from "../read-usage.ts";

const daysMax = 366;
const columns = [
  "day",
  "project id",
  "project",
  "model",
  "jobs",
  "completed",
  "failed",
  "pull requests",
  "merged",
  "input tokens",
  "output tokens",
  "cost in USD",
  "median milliseconds",
];

export function usageRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get("/usage", async (request): Promise<DashboardUsage> => readUsage(deps.pool, daysOf(request)));

  app.get("/budgets", async (): Promise<{ budgets: readonly DashboardBudget[] }> => {
    const near = (await listBudgets(deps.pool)).filter((budget) => shareOf(budget) >= 0.8);
    return { budgets: near.map(({ scope: _, ...budget }) => ({ ...budget, isSpent: shareOf(budget) >= 1 })) };
  });

  app.get("/usage.csv", async (request, reply) => {
    const lines = await readUsageLines(deps.pool, daysOf(request));
    return reply
      .type("text/csv; charset=utf-8")
      .header("content-disposition", 'attachment; filename="emend-usage.csv"')
      .send(csvFile([columns, ...lines.map(cellsOf)], separatorOf(request)));
  });
}

function cellsOf(line: UsageLine): (string | number | null)[] {
  return [
    line.day,
    line.projectId,
    line.project,
    line.model,
    line.jobs,
    line.completed,
    line.failed,
    line.pullRequests,
    line.merged,
    line.inputTokens,
    line.outputTokens,
    line.costUsd,
    line.medianMs === null ? null : Math.round(line.medianMs),
  ];
}

function separatorOf(request: FastifyRequest): "," | ";" {
  return (request.query as { separator?: unknown }).separator === "semicolon" ? ";" : ",";
}

function daysOf(request: FastifyRequest): number {
  const { days = "30" } = request.query as { days?: unknown };
  const number = typeof days === "string" && /^[0-9]{1,3}$/.test(days) ? Number(days) : 0;
  if (number >= 1 && number <= daysMax) return number;
  throw new AppError("invalid_request", { publicMessage: `days must be a number from 1 to ${daysMax}.` });
}
