import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { JobRun, Jobs } from "@emend/sdk";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { markdownLines, safeText } from "../terminal/format.ts";
import { assertNotFailed, finishJob, printJob, showDiff, untilFinal } from "./job-read.ts";
import { jobsOf, splitWords, withProject } from "./jobs-of.ts";
import { withJson } from "./options.ts";

interface CreateOptions {
  wait?: boolean;
  idempotencyKey?: string;
  base?: string;
  model?: string;
  draft?: boolean;
  plan?: boolean;
  unknown?: "ask" | "draft" | "refuse";
  maxCost?: number;
  file?: readonly string[];
  json?: boolean;
}

export function registerJobCreate(job: Command, cli: Cli): void {
  const described = job
    .command("create")
    .description("start a job and print its id; with --wait, the link of its pull request");
  const command = withProject(described, [["prompt", "what the agent must do; - reads it from standard input"]])
    .option("--wait", "wait until the job is over")
    .option("--base <branch>", "branch to start from (default: the project's)")
    .option("--model <name>", "a model that the project allows")
    .option("--draft", "open the pull request as a draft")
    .option("--plan", "make a plan first; approve or change it with job say")
    .addOption(
      new Option("--unknown <what>", "for what no page of the site has: ask a person, open a draft, or refuse").choices(
        ["ask", "draft", "refuse"],
      ),
    )
    .option("--max-cost <usd>", "lower the cost limit of this job", parseCost)
    .option(...fileOption)
    .option("--idempotency-key <key>", "create once, however often this is run with the same key");
  withJson(command).action((first?: string, second?: string, options: CreateOptions = {}) => {
    const { project, rest } = splitWords([first, second], ["prompt"]);
    return createJob(cli, project, rest[0] ?? "", options);
  });
}

const fileOption = [
  "--file <path>",
  "attach a picture (PNG, JPEG, WebP) or a PDF; repeat it for more",
  (path: string, others: readonly string[] | undefined): readonly string[] => [...(others ?? []), path],
] as const;

/** Their ids, for a prompt or a message. */
async function uploadFiles(cli: Cli, jobs: Jobs, paths: readonly string[] = []): Promise<{ files?: string[] }> {
  if (paths.length === 0) return {};
  const read = paths.map(async (path) => ({
    name: basename(path),
    bytes: await readFile(path).catch((cause: NodeJS.ErrnoException) => {
      throw new CliError("usage", `${path} can't be read: ${cause.code ?? cause.message}`);
    }),
  }));
  const files: string[] = [];
  // All are read before the first is sent.
  for (const file of await Promise.all(read)) files.push((await jobs.upload(file, { signal: cli.signal })).id);
  return { files };
}

async function createJob(cli: Cli, given: string | undefined, words: string, options: CreateOptions): Promise<void> {
  const { jobs, project } = await jobsOf(cli, given);
  const { base, model, draft, plan, unknown, maxCost, idempotencyKey = randomUUID() } = options;
  const body = {
    prompt: await readPrompt(cli, words),
    ...(base === undefined ? {} : { baseRef: base }),
    ...(model === undefined ? {} : { model }),
    ...(draft === undefined ? {} : { draft }),
    ...(plan === undefined ? {} : { plan }),
    ...(unknown === undefined ? {} : { unknown }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(await uploadFiles(cli, jobs, options.file)),
  };
  const created = await jobs.create(body, { idempotencyKey, signal: cli.signal });
  if (!options.wait) return printResult(cli, options, created, created.id);
  await finishJob(cli, jobs, created, { ...options, project });
}

function parseCost(text: string): number {
  const usd = Number(text);
  if (/^\d+(\.\d+)?$/.test(text)) return usd;
  throw new InvalidArgumentError("Give an amount in US dollars, such as 0.50.");
}

export function registerJobRun(job: Command, cli: Cli): void {
  const described = job.command("run").description("what a job does or did: phase, failure, steps, cost, findings");
  const command = withProject(described, [["id", "the job's id"]]);
  withJson(command).action(async (first?: string, second?: string, options: { json?: boolean } = {}) => {
    const { project, rest } = splitWords([first, second], ["id"]);
    const { jobs } = await jobsOf(cli, project);
    const run = await jobs.run(rest[0] ?? "", { signal: cli.signal });
    printResult(cli, options, run, runText(run));
  });
}

function statusOf({ status, phase, waiting }: JobRun): string {
  if (waiting?.for === "approval") return `waiting for you until ${waiting.until}`;
  return status === "active" ? `active, ${phase}` : status;
}

function runText(run: JobRun): string {
  const { failure, findings, pullRequest, usage } = run;
  const tokens = `${usage.inputTokens} in, ${usage.outputTokens} out`;
  const rows: [string, string | null][] = [
    ["status", statusOf(run)],
    ["failure", failure?.code ?? null],
    ["limit", run.limitReached],
    ["model", run.model],
    ["steps", `${run.steps.count}, ${tokens} tokens, $${usage.costUsd.toFixed(2)}`],
    ["findings", findings && `${findings.before} before, ${findings.after} after, ${findings.introducedCount} new`],
    ["not checked", findings?.links?.unjudged ? `${findings.links.unjudged} of ${findings.links.total} links` : null],
    ["pull request", pullRequest && `${pullRequest.url} (${pullRequest.draft ? "draft, " : ""}${pullRequest.state})`],
  ];
  const head = rows.filter(([, value]) => value !== null).map(([name, value]) => `${name.padEnd(14)}${value}`);
  const asked = (run.waiting?.constructs ?? []).map(
    ({ path, line, text, count }) =>
      `to approve    ${path}:${line}${count === 1 ? "" : ` (${count} times)`}: ${text.split("\n", 1)[0]}`,
  );
  const denied = run.violations.map(({ path, rule }) => `denied        ${path}: ${rule}`);
  const words = [failure?.message, run.title, run.summary].filter((text) => typeof text === "string" && text !== "");
  const paragraphs = words.flatMap((text) => ["", ...markdownLines(text ?? "", 92)]);
  return [...head, ...asked, ...denied, ...paragraphs].map(safeText).join("\n");
}

interface PreviewOptions {
  base?: string;
  model?: string;
  maxCost?: number;
  stat?: boolean;
  json?: boolean;
}

export function registerJobPreview(job: Command, cli: Cli): void {
  const described = job
    .command("preview")
    .description("show what a job would change, as a unified diff, and open nothing");
  const command = withProject(described, [["prompt", "what the agent must do; - reads it from standard input"]])
    .option("--base <branch>", "branch to start from (default: the project's)")
    .option("--model <name>", "a model that the project allows")
    .option("--max-cost <usd>", "lower the cost limit of this job", parseCost)
    .option("--stat", "print the files and their figures instead");
  withJson(command).action((first?: string, second?: string, options: PreviewOptions = {}) => {
    const { project, rest } = splitWords([first, second], ["prompt"]);
    return previewJob(cli, project, rest[0] ?? "", options);
  });
}

async function previewJob(cli: Cli, given: string | undefined, words: string, options: PreviewOptions): Promise<void> {
  const { jobs, project } = await jobsOf(cli, given);
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
  // Work that a limit interrupted was kept and is shown too.
  const found = await jobs.diff(job.id, { signal: cli.signal });
  if (options.json) printResult(cli, options, { id: job.id, status: job.status, ...found }, "");
  else if (found.diff !== "") showDiff(cli, found, options);
  else if (job.status === "completed") say(cli, options, "Nothing would change.");
  else if (job.status === "archived") say(cli, options, `Job ${job.id} was archived before it was over.`);
  await assertNotFailed(cli, jobs, job);
}

interface MessageOptions {
  wait?: boolean;
  file?: readonly string[];
  json?: boolean;
}

export function registerJobMessage(job: Command, cli: Cli): void {
  const described = job
    .command("message")
    .alias("say")
    .description("tell a job something while it works, or ask a finished one for more");
  const command = withProject(described, [
    ["id", "the job's id"],
    ["prompt", "what more the agent must do; - reads it from standard input"],
  ])
    .option(...fileOption)
    .option("--wait", "wait until the job is over");
  withJson(command).action((first?: string, second?: string, third?: string, options: MessageOptions = {}) => {
    const { project, rest } = splitWords([first, second, third], ["id", "prompt"]);
    const [id = "", prompt = ""] = rest;
    return messageJob(cli, { project, id, prompt }, options);
  });
}

async function messageJob(
  cli: Cli,
  what: { project: string | undefined; id: string; prompt: string },
  options: MessageOptions,
): Promise<void> {
  const { jobs, project } = await jobsOf(cli, what.project);
  const prompt = await readPrompt(cli, what.prompt);
  const after = options.wait ? await lastEvent(cli, jobs, what.id) : 0;
  const body = { prompt, ...(await uploadFiles(cli, jobs, options.file)) };
  const started = await jobs.message(what.id, body, { signal: cli.signal });
  if (!options.wait) return printResult(cli, options, started, started.id);
  await finishJob(cli, jobs, started, { ...options, project, after, isFollowUp: true });
}

/** Events from before the follow-up are not shown again. */
async function lastEvent(cli: Cli, jobs: Jobs, id: string): Promise<number> {
  const job = await jobs.get(id, { signal: cli.signal });
  let last = 0;
  // An active job's stream would not end.
  if (job.status !== "active") for await (const { seq } of jobs.events(id, { signal: cli.signal })) last = seq;
  return last;
}

/** The prompt as typed. `-` reads it from standard input. */
export async function readPrompt(cli: Cli, words: string): Promise<string> {
  if (words !== "-") return words;
  if (cli.stdin.isTTY) cli.stderr.write("Type the prompt. End it with Ctrl-D on an empty line.\n");
  const text = await readInput(cli);
  if (text.trim() === "") throw new CliError("usage", "the prompt is empty: nothing came on standard input");
  return text;
}

export async function readInput(cli: Cli): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of cli.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

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

export function registerJobPublish(job: Command, cli: Cli): void {
  const described = job.command("publish").description("publish what a preview shows, without asking a model");
  const command = withProject(described, [["id", "the preview's id"]]).option("--wait", "wait until it is published");
  withJson(command).action(
    async (first?: string, second?: string, options: { wait?: boolean; json?: boolean } = {}) => {
      const { project, rest } = splitWords([first, second], ["id"]);
      const opened = await jobsOf(cli, project);
      const published = await opened.jobs.publish(rest[0] ?? "", { signal: cli.signal });
      if (!options.wait) return printJob(cli, options, published);
      await finishJob(cli, opened.jobs, published, { ...options, project: opened.project });
    },
  );
}

export function registerJobApprove(job: Command, cli: Cli): void {
  const described = job.command("approve").description("publish a change that waits for your approval");
  const command = withProject(described, [["id", "the job's id"]])
    .option("--remember", "allow these constructs on the site from now on")
    .option("--wait", "wait until it is published");
  withJson(command).action(
    async (first?: string, second?: string, options: { remember?: boolean; wait?: boolean; json?: boolean } = {}) => {
      const { project, rest } = splitWords([first, second], ["id"]);
      const opened = await jobsOf(cli, project);
      const { remember = false } = options;
      const approved = await opened.jobs.approve(rest[0] ?? "", { remember, signal: cli.signal });
      if (!options.wait) return printJob(cli, options, approved);
      await finishJob(cli, opened.jobs, approved, { ...options, project: opened.project });
    },
  );
}

export function registerJobDecline(job: Command, cli: Cli): void {
  const described = job.command("decline").description("do not publish a change that waits for your approval");
  withJson(withProject(described, [["id", "the job's id"]])).action((...words: JobWords) =>
    endJob(cli, words, "decline"),
  );
}

type JobWords = [project: string | undefined, id: string | undefined, options: { json?: boolean }];

async function endJob(cli: Cli, words: JobWords, action: "cancel" | "archive" | "retry" | "decline"): Promise<void> {
  const [first, second, options] = words;
  const { project, rest } = splitWords([first, second], ["id"]);
  const { jobs } = await jobsOf(cli, project);
  printJob(cli, options, await jobs[action](rest[0] ?? "", { signal: cli.signal }));
}
