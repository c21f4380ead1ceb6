import { styleText } from "node:util";
import type { AgentJob, JobDiff, JobStatus, Jobs } from "@emend/sdk";
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
import { jobsOf, projectWords, splitWords, withProject } from "./jobs-of.ts";
import { withData, withJson } from "./options.ts";
import { printJob } from "./print-job.ts";

interface GetOptions {
  wait?: boolean;
  json?: boolean;
}

export function registerJobGet(job: Command, cli: Cli): void {
  const command = withProject(job.command("get").description("show a job"), [["id", "the job's id"]]);
  command.option("--wait", "wait until the job is over");
  withJson(command).action((first?: string, second?: string, options: GetOptions = {}) => {
    const { project, rest } = splitWords([first, second], ["id"]);
    return getJob(cli, project, rest[0] ?? "", options);
  });
}

async function getJob(cli: Cli, project: string | undefined, id: string, options: GetOptions): Promise<void> {
  const { jobs } = await jobsOf(cli, project);
  const how = { signal: cli.signal };
  const job = options.wait ? await jobs.wait(id, how) : await jobs.get(id, how);
  printJob(cli, options, job);
  // Reading a failed job succeeds; waiting for one fails.
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
    .argument("[project]", projectWords)
    .addOption(new Option("--status <status>", "only jobs in this state").choices(Object.keys(statuses)))
    .option("--limit <n>", "how many at most", parseLimit, 20);
  withJson(command).action((project: string | undefined, options: ListOptions) => listJobs(cli, project, options));
}

const pageMax = 100;

async function listJobs(cli: Cli, project: string | undefined, options: ListOptions): Promise<void> {
  const { status, limit } = options;
  const { jobs } = await jobsOf(cli, project);
  const pages = jobs.list({
    limit: Math.min(limit, pageMax),
    signal: cli.signal,
    ...(status === undefined ? {} : { status }),
  });
  const found: AgentJob[] = [];
  for await (const job of pages) if (found.push(job) >= limit) break;
  if (found.length === 0) say(cli, options, "No jobs match.");
  if (found.length === 0 && !options.json) return;
  const titles = options.json ? [] : await titlesOf(cli, jobs, found);
  const rows = found.map(({ id, status, createdAt, prLink }, at) => [
    id,
    status,
    minute(createdAt),
    titles[at] ?? "",
    prLink ?? "",
  ]);
  printResult(cli, options, found, table([["ID", "STATUS", "CREATED", "TITLE", "PULL REQUEST"], ...rows]));
}

const titleCharactersMax = 60;
const runsAtOnce = 8;

/** The pull request's title, or the prompt if there is none. The job itself has neither. */
async function titlesOf(cli: Cli, jobs: Pick<Jobs, "run">, found: readonly AgentJob[]): Promise<string[]> {
  const titles: string[] = [];
  const left = [...found.entries()];
  const work = Array.from({ length: runsAtOnce }, async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      // A service without runs still lists its jobs.
      const run = await jobs.run(next[1].id, { signal: cli.signal }).catch(() => null);
      const [line = ""] = (run?.title ?? run?.prompt ?? "").trim().split("\n");
      const letters = [...line];
      titles[next[0]] =
        letters.length <= titleCharactersMax ? line : `${letters.slice(0, titleCharactersMax - 1).join("")}…`;
    }
  });
  await Promise.all(work);
  return titles;
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
  const described = job.command("diff").description("print what a job changed, as a unified diff");
  const command = withProject(described, [["id", "the job's id"]]);
  command.option("--stat", "print the files and their figures instead");
  withJson(command).action(async (first?: string, second?: string, options: DiffOptions = {}) => {
    const { project, rest } = splitWords([first, second], ["id"]);
    const { jobs } = await jobsOf(cli, project);
    showDiff(cli, await jobs.diff(rest[0] ?? "", { signal: cli.signal }), options);
  });
}

export function showDiff(cli: Cli, found: JobDiff, options: DiffOptions): void {
  if (options.json) printResult(cli, options, found, "");
  else if (found.diff === "") say(cli, options, "Nothing changed.");
  else if (options.stat) printResult(cli, options, found, statOf(found));
  // In a pipe the bytes are for `git apply`. On a terminal, control characters are removed.
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

/** The API's nine fields do not say why a job failed or what it did. The database does. */
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
  withProject(job.command("watch").description("follow a job until it is over"), [["id", "the job's id"]])
    .option("--json", "print each event as a line of JSON")
    .action((first?: string, second?: string, options: WatchOptions = {}) => {
      const { project, rest } = splitWords([first, second], ["id"]);
      return watch(cli, project, rest[0] ?? "", options);
    });
}

async function watch(cli: Cli, project: string | undefined, id: string, options: WatchOptions): Promise<void> {
  const { jobs } = await jobsOf(cli, project);
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
