import { styleText } from "node:util";
import type { AgentJob, JobDiff, JobStatus } from "@emend/sdk";
import type { JobReport } from "@emend/server";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { minute, safeText, table } from "../terminal/format.ts";
import { markdownLines } from "../terminal/markdown-lines.ts";
import { narratorFor } from "../watch/narrator-for.ts";
import { createTeller } from "../watch/teller.ts";
import { watchJob } from "../watch/watch-job.ts";
import { withAdmin } from "../with-admin.ts";
import { assertNotFailed } from "./finish-job.ts";
import { jobsOf } from "./jobs-of.ts";
import { withData, withJson } from "./options.ts";
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

interface DiffOptions {
  stat?: boolean;
  json?: boolean;
}

export function registerJobDiff(job: Command, cli: Cli): void {
  const command = job
    .command("diff")
    .description("print what a job changed, as a unified diff")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id")
    .option("--stat", "print the files and their figures instead");
  withJson(command).action((project: string, id: string, options: DiffOptions) => diffJob(cli, project, id, options));
}

async function diffJob(cli: Cli, project: string, id: string, options: DiffOptions): Promise<void> {
  showDiff(cli, await jobsOf(cli, project).diff(id, { signal: cli.signal }), options);
}

export function showDiff(cli: Cli, found: JobDiff, options: DiffOptions): void {
  if (options.json) printResult(cli, options, found, "");
  else if (found.diff === "") say(cli, options, "Nothing changed.");
  else if (options.stat) printResult(cli, options, found, statOf(found));
  // In a pipe the bytes are what `git apply` reads; on a terminal nothing in them may move the cursor.
  else cli.stdout.write(cli.stdout.isTTY ? found.diff.split("\n").map(paint).join("\n") : found.diff);
}

function statOf({ files }: JobDiff): string {
  const rows = files.map(({ path, change, additions, deletions }) => [path, change, `+${additions}`, `−${deletions}`]);
  return table([["PATH", "CHANGE", "ADDED", "REMOVED"], ...rows]);
}

function paint(line: string): string {
  const shown = safeText(line.replaceAll("\t", "    "));
  if (/^(diff |index |--- |\+\+\+ |new |deleted |similarity |rename )/.test(line)) return styleText("bold", shown);
  if (line.startsWith("@@")) return styleText("cyan", shown);
  if (line.startsWith("+")) return styleText("green", shown);
  return line.startsWith("-") ? styleText("red", shown) : shown;
}

interface ReportOptions {
  data?: string;
  json?: boolean;
}

/** The wire's nine fields do not say why a job failed or what it did; the installation's database does. */
export function registerJobReport(job: Command, cli: Cli): void {
  const command = job
    .command("report")
    .description("what a job did, or why it failed; on the server's machine")
    .argument("<id>", "the job's id");
  withJson(withData(command)).action((id: string, options: ReportOptions) => reportJob(cli, id, options));
}

async function reportJob(cli: Cli, id: string, options: ReportOptions): Promise<void> {
  const report = await withAdmin(cli, options, (admin) => admin.jobReport(id));
  printResult(cli, options, report, reportText(report));
}

function reportText(report: JobReport): string {
  const { status, phase, failure, findings } = report;
  const lines = [`status        ${status === "active" ? `active, ${phase}` : status}`, `model         ${report.model}`];
  if (failure) lines.push(`failure       ${failure.code}`, ...markdownLines(failure.message, 92));
  if (findings) lines.push(`findings      ${findings.before} before, ${findings.after} after`);
  if (report.changedFiles > 0) lines.push(`files         ${report.changedFiles}`);
  if (report.title) lines.push("", report.title);
  if (report.summary) lines.push("", ...markdownLines(report.summary, 92));
  return lines.map(safeText).join("\n");
}

interface WatchOptions {
  json?: boolean;
}

export function registerJobWatch(job: Command, cli: Cli): void {
  job
    .command("watch")
    .description("follow a job until it is over")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id")
    .option("--json", "print each event as a line of JSON")
    .action((project: string, id: string, options: WatchOptions) => watch(cli, project, id, options));
}

async function watch(cli: Cli, project: string, id: string, options: WatchOptions): Promise<void> {
  const jobs = jobsOf(cli, project);
  if (options.json) {
    for await (const event of jobs.events(id, { signal: cli.signal })) cli.stdout.write(`${JSON.stringify(event)}\n`);
    return assertNotFailed(cli, jobs, await jobs.get(id, { signal: cli.signal }));
  }
  const narrator = narratorFor(cli, cli.stdout, options);
  const { tell } = createTeller(narrator);
  const ended = await watchJob(jobs, id, { onEvent: tell, signal: cli.signal }).finally(narrator.end);
  narrator.line(safeText(ended.prLink ?? (ended.status === "completed" ? "nothing was changed" : ended.status)));
  await assertNotFailed(cli, jobs, ended);
}
