import { randomUUID } from "node:crypto";
import { type Command, InvalidArgumentError } from "commander";
import type { Cli } from "../cli.ts";
import { printResult } from "../output.ts";
import { finishJob } from "./finish-job.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";
import { readPrompt } from "./read-prompt.ts";

interface CreateOptions {
  wait?: boolean;
  idempotencyKey?: string;
  base?: string;
  model?: string;
  draft?: boolean;
  maxCost?: number;
  json?: boolean;
}

export function registerJobCreate(job: Command, cli: Cli): void {
  const command = job
    .command("create")
    .description("start a job and print its id; with --wait, the link of its pull request")
    .argument("<project>", "the project's id")
    .argument("<prompt>", "what the agent must do; - reads it from standard input")
    .option("--wait", "wait until the job is over")
    .option("--base <branch>", "branch to start from (default: the project's)")
    .option("--model <name>", "a model that the project allows")
    .option("--draft", "open the pull request as a draft")
    .option("--max-cost <usd>", "lower the cost limit of this job", parseCost)
    .option("--idempotency-key <key>", "create once, however often this is run with the same key");
  withJson(command).action((project: string, prompt: string, options: CreateOptions) =>
    createJob(cli, project, prompt, options),
  );
}

async function createJob(cli: Cli, project: string, words: string, options: CreateOptions): Promise<void> {
  const jobs = jobsOf(cli, project);
  const { base, model, draft, maxCost, idempotencyKey = randomUUID() } = options;
  const body = {
    prompt: await readPrompt(cli, words),
    ...(base === undefined ? {} : { baseRef: base }),
    ...(model === undefined ? {} : { model }),
    ...(draft === undefined ? {} : { draft }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
  };
  const created = await jobs.create(body, { idempotencyKey, signal: cli.signal });
  if (!options.wait) return printResult(cli, options, created, created.id);
  await finishJob(cli, jobs, created, { ...options, project });
}

export function parseCost(text: string): number {
  const usd = Number(text);
  if (/^\d+(\.\d+)?$/.test(text)) return usd;
  throw new InvalidArgumentError("Give an amount in US dollars, such as 0.50.");
}
