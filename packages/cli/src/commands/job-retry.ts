import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";
import { printJob } from "./print-job.ts";

export function registerJobRetry(job: Command, cli: Cli): void {
  const command = job
    .command("retry")
    .description("start a failed job again where it stopped; finished work is published without asking a model")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id");
  withJson(command).action(async (project: string, id: string, options: { json?: boolean }) =>
    printJob(cli, options, await jobsOf(cli, project).retry(id, { signal: cli.signal })),
  );
}
