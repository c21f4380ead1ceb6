import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";
import { printJob } from "./print-job.ts";

export function registerJobCancel(job: Command, cli: Cli): void {
  const command = job
    .command("cancel")
    .description("cancel an active job")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id");
  withJson(command).action((project: string, id: string, options: { json?: boolean }) =>
    cancelJob(cli, project, id, options),
  );
}

async function cancelJob(cli: Cli, project: string, id: string, options: { json?: boolean }): Promise<void> {
  printJob(cli, options, await jobsOf(cli, project).cancel(id, { signal: cli.signal }));
}

export function registerJobArchive(job: Command, cli: Cli): void {
  const command = job
    .command("archive")
    .description("archive a job; an active one is stopped first")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id");
  withJson(command).action((project: string, id: string, options: { json?: boolean }) =>
    archiveJob(cli, project, id, options),
  );
}

async function archiveJob(cli: Cli, project: string, id: string, options: { json?: boolean }): Promise<void> {
  printJob(cli, options, await jobsOf(cli, project).archive(id, { signal: cli.signal }));
}

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
