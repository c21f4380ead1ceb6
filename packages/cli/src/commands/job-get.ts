import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { assertNotFailed } from "./finish-job.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";
import { printJob } from "./print-job.ts";

interface GetOptions {
  wait?: boolean;
  json?: boolean;
}

export function registerJobGet(job: Command, cli: Cli): void {
  const command = job
    .command("get")
    .description("show a job")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id")
    .option("--wait", "wait until the job is over");
  withJson(command).action((project: string, id: string, options: GetOptions) => getJob(cli, project, id, options));
}

async function getJob(cli: Cli, project: string, id: string, options: GetOptions): Promise<void> {
  const jobs = jobsOf(cli, project);
  const how = { signal: cli.signal };
  const job = options.wait ? await jobs.wait(id, how) : await jobs.get(id, how);
  printJob(cli, options, job);
  // Reading a failed job is no failure; waiting for one is.
  if (options.wait) await assertNotFailed(cli, jobs, job);
}
