import { styleText } from "node:util";
import type { AgentJob, JobDiff, JobStatus, Jobs } from "@emend/sdk";
import type { JobReport } from "@emend/server";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { markdownLines, minute, safeText, table } from "../terminal/format.ts";
import { createTeller, failureText, narratorFor, watchJob } from "../watch/watch-job.ts";
import { withAdmin } from "../with-admin.ts";
import { jobsOf, projectWords, splitWords, withProject } from "./jobs-of.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

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

/** The API's nine fields do not say why a job failed or what it did. The database does. */
export function registerJobReport(job: Command, cli: Cli): void {
  const command = job
    .command("report")
    .description("what a job did, or why it failed; on the server's machine")
    .argument("<id>", "the job's id");
  withJson(withData(command)).action((id: string, options: AdminOptions) => reportJob(cli, id, options));
}

async function reportJob(cli: Cli, id: string, options: AdminOptions): Promise<void> {
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

interface WaitOptions {
  project: string;
  json?: boolean;
  after?: number;
  /** Of a job that had completed, it can fail alone. */
  isFollowUp?: boolean;
}

/** Waits for a started job, shows its phases on stderr, and prints its pull request's link. */
export async function finishJob(cli: Cli, jobs: Jobs, started: AgentJob, options: WaitOptions): Promise<void> {
  const job = await untilFinal(cli, jobs, started, options);
  if (options.json) printResult(cli, options, job, "");
  else if (job.prLink && job.status !== "failed") printResult(cli, options, job, safeText(job.prLink));
  if (!job.prLink && job.status === "completed" && !options.json) await sayUnchanged(cli, jobs, job, options);
  await assertNotFailed(cli, jobs, job);
  if (!options.isFollowUp || job.status !== "completed") return;
  const run = await jobs.run(job.id, { signal: cli.signal }).catch(() => null);
  if (run?.failure)
    throw new CliError("jobFailed", failureText(`the follow-up of job ${job.id} failed`, run.failure, ""));
}

/** Waits for a started job and shows its phases on stderr. */
export async function untilFinal(cli: Cli, jobs: Jobs, started: AgentJob, options: WaitOptions): Promise<AgentJob> {
  say(cli, options, `Job ${started.id} is ${started.status}.`);
  const narrator = narratorFor(cli, cli.stderr, options);
  const { tell } = createTeller(narrator);
  const after = options.after === undefined ? {} : { after: options.after };
  return watchJob(jobs, started.id, { ...after, onEvent: tell, signal: cli.signal })
    .catch((error) => {
      if (!cli.signal.aborted) throw error;
      const again = `emend job get ${options.project} ${started.id}`;
      throw new CliError("interrupted", `stopped waiting; the job goes on: ${again}`);
    })
    .finally(narrator.end);
}

/** A plan in full, otherwise the first line of the job's summary, if the service has runs. */
async function sayUnchanged(cli: Cli, jobs: Pick<Jobs, "run">, job: AgentJob, options: WaitOptions): Promise<void> {
  const run = await jobs.run(job.id, { signal: cli.signal }).catch(() => null);
  if (run?.plan) {
    const next = `Approve it, or change it: emend job say ${options.project} ${job.id} "Carry out the plan."`;
    return say(cli, options, [...markdownLines(run.summary ?? "", 92), "", next].map(safeText).join("\n"));
  }
  const [line = ""] = (run?.summary ?? "").split("\n");
  const head = run?.refused ? "Nothing was changed." : "Completed: nothing was changed.";
  say(cli, options, `${head}${line === "" ? "" : ` ${safeText(line)}`}`);
}

/** A failed job has its own exit code and prints the reason. */
export async function assertNotFailed(cli: Cli, jobs: Pick<Jobs, "run">, job: AgentJob): Promise<void> {
  if (job.status !== "failed") return;
  // A service without runs still reports that the job failed.
  const run = await jobs.run(job.id, { signal: cli.signal }).catch(() => null);
  const kept = job.prLink ? `\nWhat it had done is kept at ${job.prLink}` : "";
  throw new CliError("jobFailed", failureText(`job ${job.id} failed`, run?.failure ?? null, kept));
}

export function printJob(cli: Cli, options: { json?: boolean }, job: AgentJob): void {
  const lines = [
    ["id", job.id],
    ["status", job.status],
    ["pull request", job.prLink ?? "none"],
    ["model", job.model],
    ["repository", job.source.repository],
    ["branch", job.source.ref ?? "none"],
    ["created", job.createdAt],
    ...(job.archivedAt ? [["archived", job.archivedAt]] : []),
  ];
  printResult(
    cli,
    options,
    job,
    lines.map(([name = "", value = ""]) => `${name.padEnd(14)}${safeText(value)}`).join("\n"),
  );
}
