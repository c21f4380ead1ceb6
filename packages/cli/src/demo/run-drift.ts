import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { type AgentJob, Emend } from "@emend/sdk";
import type { GateStatus, Server } from "@emend/server";
import { type Cli, CliError } from "../cli.ts";
import type { Narrator } from "../terminal/narrator.ts";
import { createTeller, failureText, watchJob } from "../watch/watch-job.ts";

const codeDir = join(import.meta.dirname, "..", "..", "sample-code");
const branch = "forward-to";
const title = "Rename --to to --forward-to, wait for 60s, and add --verbose";
const waitMsMax = 120_000;
const pollEveryMs = 100;

/** What the journey came to. */
export interface Drift {
  /** The code's pull request. */
  pull: string;
  failed: GateStatus;
  job: AgentJob;
  /** With the docs' pull request. */
  after: GateStatus;
}

/**
 * Docs that stay true: a pull request on the code renames a flag, changes a default and adds a flag. Its status fails, a job
 * repairs what needs no model, and the status blocks no more. Throws where any of it does not happen.
 */
export async function showDrift(cli: Cli, narrator: Narrator, server: Server, sampleDir: string): Promise<Drift> {
  const { admin } = server;
  narrator.begin("importing the sample docs and their code");
  const settings = { gate: { sources: "failing" } };
  const docs = await admin.addProject({ name: "Sample docs", forge: "local", repo: sampleDir, settings });
  // The code has no docs of its own to look at.
  const off = { gate: { docs: "off" } };
  const code = await admin.addProject({ name: "Sample code", forge: "local", repo: codeDir, settings: off });
  await admin.addContextRepository({ projectId: docs.id, name: "code", forge: "local", repo: code.id });
  const { key } = await admin.createKey({ projectIds: [docs.id, code.id], name: "demo", scope: "write" });
  narrator.done("import", "sample docs, and the code that they describe");

  narrator.begin("opening a pull request on the code");
  const pull = await openPullRequest(cli, { url: server.url, projectId: code.id, key });
  narrator.done("code", `pull request: ${title}`);
  narrator.line(`    ${pull}`);

  narrator.begin("waiting for its status");
  const failed = await untilStatus(cli, server, docs.id, (status) => status.state === "failed");
  narrator.done("status", `failed: ${failed.words}`);
  tellFindings(narrator, failed);

  const { jobId } = await admin.startDocsJob(failed.id);
  const jobs = new Emend({ baseUrl: server.url, apiKey: key }).jobs(docs.id);
  const job = await watchJob(jobs, jobId, { onEvent: createTeller(narrator).tell, signal: cli.signal });
  const report = await admin.jobReport(jobId);
  if (report.failure) throw new CliError("jobFailed", failureText("the job failed", report.failure));
  if (!job.prLink) throw new CliError("jobFailed", "the job opened no pull request on the docs");
  narrator.line(`    ${job.prLink}`);

  narrator.begin("waiting for the status of the code's pull request");
  const isOpen = ({ state }: GateStatus) => state === "passed" || state === "neutral";
  const after = await untilStatus(cli, server, docs.id, (status) => status.id === failed.id && isOpen(status));
  narrator.done("status", `${after.state}: ${after.words}`);
  tellFindings(narrator, after);
  return { pull, failed, job, after };
}

function tellFindings(narrator: Narrator, { findings }: GateStatus): void {
  for (const { path, line, message } of findings) narrator.line(`    ${path}:${line}  ${message}`);
  narrator.line();
}

/** As a person would: clone, edit, push, open. */
async function openPullRequest(cli: Cli, at: { url: string; projectId: string; key: string }): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "emend-drift-"));
  const authorization = `Authorization: Bearer ${at.key}`;
  // Without the person's configuration: it may sign commits, run hooks, or rewrite addresses.
  const env = {
    PATH: cli.env.PATH ?? "",
    HOME: dir,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_COUNT: "3",
    GIT_CONFIG_KEY_0: "http.extraHeader",
    GIT_CONFIG_VALUE_0: authorization,
    GIT_CONFIG_KEY_1: "user.name",
    GIT_CONFIG_VALUE_1: "A developer",
    GIT_CONFIG_KEY_2: "user.email",
    GIT_CONFIG_VALUE_2: "developer@example.com",
  };
  const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: dir, env, signal: cli.signal });
  try {
    await git("clone", "--quiet", `${at.url}/git/${at.projectId}.git`, ".");
    await git("switch", "--quiet", "--create", branch);
    const file = join(dir, "src", "options.js");
    const text = await readFile(file, "utf8");
    const changed = text.replace('"--to"', '"--forward-to"').replace('"30s"', '"60s"');
    await writeFile(file, changed.replace("];", '  { flag: "--verbose", help: "say more" },\n];'));
    await git("commit", "--quiet", "--all", `--message=${title}`);
    await git("push", "--quiet", "origin", branch);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  const opened = await fetch(`${at.url}/forge/${at.projectId}/pulls`, {
    method: "POST",
    redirect: "manual",
    headers: { authorization: `Bearer ${at.key}`, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ head: branch, title }).toString(),
    signal: cli.signal,
  });
  const link = opened.headers.get("location");
  if (opened.status === 303 && link) return link;
  throw new Error(`the pull request was not opened: ${opened.status} ${await opened.text()}`);
}

async function untilStatus(
  cli: Cli,
  { admin }: Server,
  projectId: string,
  isWanted: (status: GateStatus) => boolean,
): Promise<GateStatus> {
  const signal = AbortSignal.any([cli.signal, AbortSignal.timeout(waitMsMax)]);
  let last: GateStatus | undefined;
  while (!signal.aborted) {
    const statuses = await admin.listGateStatuses(projectId);
    const found = statuses.find(isWanted);
    if (found) return found;
    last = statuses[0] ?? last;
    await pause(pollEveryMs, undefined, { signal }).catch(() => {});
  }
  cli.signal.throwIfAborted();
  throw new Error(`the status did not change in time${last ? `; it is ${last.state}: ${last.words}` : ""}`);
}
