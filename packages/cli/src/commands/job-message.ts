import type { Jobs } from "@emend/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult } from "../output.ts";
import { finishJob } from "./finish-job.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";
import { readPrompt } from "./read-prompt.ts";

interface MessageOptions {
  wait?: boolean;
  json?: boolean;
}

export function registerJobMessage(job: Command, cli: Cli): void {
  const command = job
    .command("message")
    .description("ask a finished job for more, on the same pull request")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id")
    .argument("<prompt>", "what more the agent must do; - reads it from standard input")
    .option("--wait", "wait until the job is over");
  withJson(command).action((project: string, id: string, prompt: string, options: MessageOptions) =>
    messageJob(cli, { project, id, prompt }, options),
  );
}

async function messageJob(
  cli: Cli,
  what: { project: string; id: string; prompt: string },
  options: MessageOptions,
): Promise<void> {
  const jobs = jobsOf(cli, what.project);
  const prompt = await readPrompt(cli, what.prompt);
  const after = options.wait ? await lastEvent(cli, jobs, what.id) : 0;
  const started = await jobs.message(what.id, { prompt }, { signal: cli.signal });
  if (!options.wait) return printResult(cli, options, started, started.id);
  await finishJob(cli, jobs, started, { ...options, project: what.project, after });
}

/** What happened before the follow-up is not told again. */
async function lastEvent(cli: Cli, jobs: Jobs, id: string): Promise<number> {
  const job = await jobs.get(id, { signal: cli.signal });
  let last = 0;
  // The stream of an active job would not end; the service refuses a follow-up to one anyhow.
  if (job.status !== "active") for await (const { seq } of jobs.events(id, { signal: cli.signal })) last = seq;
  return last;
}
