import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";
import { assertNotFailed } from "./print-job.ts";

interface CreateOptions {
  wait?: boolean;
  idempotencyKey?: string;
  json?: boolean;
}

export function registerJobCreate(job: Command, cli: Cli): void {
  const command = job
    .command("create")
    .description("start a job and print its id; with --wait, the link of its pull request")
    .argument("<project>", "the project's id")
    .argument("<prompt>", "what the agent must do; - reads it from standard input")
    .option("--wait", "wait until the job is over")
    .option("--idempotency-key <key>", "create once, however often this is run with the same key");
  withJson(command).action((project: string, prompt: string, options: CreateOptions) =>
    createJob(cli, project, prompt, options),
  );
}

async function createJob(cli: Cli, project: string, words: string, options: CreateOptions): Promise<void> {
  const jobs = jobsOf(cli, project);
  const prompt = words === "-" ? await readAll(cli.stdin) : words;
  const idempotencyKey = options.idempotencyKey ?? randomUUID();
  const created = await jobs.create({ prompt }, { idempotencyKey, signal: cli.signal });
  if (!options.wait) return printResult(cli, options, created, created.id);

  say(cli, options, `Job ${created.id} is ${created.status}.`);
  const job = await jobs.wait(created.id, { signal: cli.signal }).catch((error) => {
    if (!cli.signal.aborted) throw error;
    throw new CliError("interrupted", `stopped waiting; the job goes on: emend job get ${project} ${created.id}`);
  });
  if (options.json) printResult(cli, options, job, "");
  else if (job.prLink && job.status !== "failed") printResult(cli, options, job, job.prLink);
  if (!job.prLink && job.status === "completed") say(cli, options, "Completed: nothing had to change.");
  assertNotFailed(job);
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
