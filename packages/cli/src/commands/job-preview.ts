import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { assertNotFailed, untilFinal } from "./finish-job.ts";
import { parseCost } from "./job-create.ts";
import { showDiff } from "./job-diff.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";
import { readPrompt } from "./read-prompt.ts";

interface PreviewOptions {
  base?: string;
  model?: string;
  maxCost?: number;
  stat?: boolean;
  json?: boolean;
}

export function registerJobPreview(job: Command, cli: Cli): void {
  const command = job
    .command("preview")
    .description("show what a job would change, as a unified diff, and open nothing")
    .argument("<project>", "the project's id")
    .argument("<prompt>", "what the agent must do; - reads it from standard input")
    .option("--base <branch>", "branch to start from (default: the project's)")
    .option("--model <name>", "a model that the project allows")
    .option("--max-cost <usd>", "lower the cost limit of this job", parseCost)
    .option("--stat", "print the files and their figures instead");
  withJson(command).action((project: string, prompt: string, options: PreviewOptions) =>
    previewJob(cli, project, prompt, options),
  );
}

async function previewJob(cli: Cli, project: string, words: string, options: PreviewOptions): Promise<void> {
  const jobs = jobsOf(cli, project);
  const { base, model, maxCost } = options;
  const body = {
    prompt: await readPrompt(cli, words),
    preview: true,
    ...(base === undefined ? {} : { baseRef: base }),
    ...(model === undefined ? {} : { model }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
  };
  const created = await jobs.create(body, { idempotencyKey: randomUUID(), signal: cli.signal });
  const job = await untilFinal(cli, jobs, created, { ...options, project });
  // What a limit cut short was kept, and is worth a look too.
  const found = await jobs.diff(job.id, { signal: cli.signal });
  if (options.json) printResult(cli, options, { id: job.id, status: job.status, ...found }, "");
  else if (found.diff !== "") showDiff(cli, found, options);
  else if (job.status === "completed") say(cli, options, "Nothing would change.");
  else if (job.status === "archived") say(cli, options, `Job ${job.id} was archived before it was over.`);
  await assertNotFailed(cli, jobs, job);
}
