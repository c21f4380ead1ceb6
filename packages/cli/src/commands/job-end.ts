import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printJob } from "./job-read.ts";
import { jobsOf, splitWords, withProject } from "./jobs-of.ts";
import { withJson } from "./options.ts";

export function registerJobCancel(job: Command, cli: Cli): void {
  const command = withProject(job.command("cancel").description("cancel an active job"), [["id", "the job's id"]]);
  withJson(command).action((...words: JobWords) => endJob(cli, words, "cancel"));
}

export function registerJobArchive(job: Command, cli: Cli): void {
  const command = withProject(job.command("archive").description("archive a job; an active one is stopped first"), [
    ["id", "the job's id"],
  ]);
  withJson(command).action((...words: JobWords) => endJob(cli, words, "archive"));
}

export function registerJobRetry(job: Command, cli: Cli): void {
  const command = withProject(
    job
      .command("retry")
      .description("start a failed job again where it stopped; finished work is published without asking a model"),
    [["id", "the job's id"]],
  );
  withJson(command).action((...words: JobWords) => endJob(cli, words, "retry"));
}

type JobWords = [project: string | undefined, id: string | undefined, options: { json?: boolean }];

async function endJob(cli: Cli, words: JobWords, action: "cancel" | "archive" | "retry"): Promise<void> {
  const [first, second, options] = words;
  const { project, rest } = splitWords([first, second], ["id"]);
  const { jobs } = await jobsOf(cli, project);
  printJob(cli, options, await jobs[action](rest[0] ?? "", { signal: cli.signal }));
}
