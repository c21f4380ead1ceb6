import type { AgentJob, JobStatus } from "@emend/sdk";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { minute } from "../terminal/minute.ts";
import { table } from "../terminal/table.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";

interface ListOptions {
  status?: JobStatus;
  limit: number;
  json?: boolean;
}

const statuses: Record<JobStatus, true> = { active: true, completed: true, archived: true, failed: true };

export function registerJobList(job: Command, cli: Cli): void {
  const command = job
    .command("list")
    .description("list a project's jobs, newest first")
    .argument("<project>", "the project's id")
    .addOption(new Option("--status <status>", "only jobs in this state").choices(Object.keys(statuses)))
    .option("--limit <n>", "how many at most", parseLimit, 20);
  withJson(command).action((project: string, options: ListOptions) => listJobs(cli, project, options));
}

const pageMax = 100;

async function listJobs(cli: Cli, project: string, options: ListOptions): Promise<void> {
  const { status, limit } = options;
  const pages = jobsOf(cli, project).list({
    limit: Math.min(limit, pageMax),
    signal: cli.signal,
    ...(status === undefined ? {} : { status }),
  });
  const found: AgentJob[] = [];
  for await (const job of pages) if (found.push(job) >= limit) break;
  if (found.length === 0) say(cli, options, "No jobs match.");
  if (found.length === 0 && !options.json) return;
  const rows = found.map(({ id, status, createdAt, model, prLink }) => [
    id,
    status,
    minute(createdAt),
    model,
    prLink ?? "",
  ]);
  printResult(cli, options, found, table([["ID", "STATUS", "CREATED", "MODEL", "PULL REQUEST"], ...rows]));
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number of at least 1.");
}
