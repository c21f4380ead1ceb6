import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { access } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { type AgentJob, Emend } from "@emend/sdk";
import type { Server } from "@emend/server";
import { checkSite, folderTree, openSite } from "@emend/site";
import { asTyped, type Cli, CliError, shellWord } from "../cli.ts";
import { existingFolder } from "../commands/project-add.ts";
import { rethrowNaming } from "../commands/serve.ts";
import { counted, seconds, wrap } from "../terminal/format.ts";
import type { Narrator } from "../terminal/narrator.ts";
import { cacheDir } from "../user-folders.ts";
import { createTeller, failureText, narratorFor, watchJob } from "../watch/watch-job.ts";
import { type Drift, showDrift } from "./run-drift.ts";
import { showReport } from "./show-report.ts";

export interface DemoOptions {
  repo?: string;
  prompt?: string;
  docs?: string;
  data?: string;
  port?: number;
  json?: boolean;
  /** Shows how docs follow a change of the code. */
  drift?: boolean;
}

interface Task {
  name: string;
  folder: string;
  look: Look;
  prompt: string;
}

const sampleDir = join(import.meta.dirname, "..", "..", "sample");
const samplePrompt =
  'Move guides/auth to security/authentication, replace "API token" with "access key", and fix broken links.';
const ownPrompt = "Fix broken links.";

/** From nothing to a pull request, with the same HTTP API, database and git as a real installation. */
export async function runDemo(cli: Cli, options: DemoOptions): Promise<void> {
  const startedAt = performance.now();
  if (options.drift && options.repo !== undefined)
    throw new CliError("usage", "--drift shows the sample; leave out --repo");
  const task = await taskOf(cli, options);
  const isLive = Boolean(cli.stdout.isTTY) && cli.env.TERM !== "dumb" && !options.json;
  const narrator = narratorFor(cli, cli.stdout, options);
  try {
    const { server, dataDir, isDashboardBuilt, stop } = await startDemoServer(cli, narrator, options);
    try {
      const drift = options.drift ? await showDrift(cli, narrator, server, sampleDir) : null;
      const job = drift?.job ?? (await runTask(cli, narrator, server, task));
      const elapsedMs = Math.round(performance.now() - startedAt);
      if (drift && options.json) tellDrift(cli, drift, elapsedMs);
      await tell(cli, narrator, server, { job, elapsedMs, isTold: drift !== null, options });
      if (job.prLink) {
        const link = await server.admin.createLoginLink(job.prLink);
        const staysUp = isLive && Boolean(cli.stdin.isTTY);
        const page = job.prLink;
        showWayBack(narrator, { link, page, dataDir, url: server.url, staysUp, isDashboardBuilt });
        if (staysUp) await untilDismissed(cli);
      }
    } finally {
      narrator.begin("stopping");
      await stop();
    }
  } finally {
    narrator.end();
  }
}

async function taskOf(cli: Cli, options: DemoOptions): Promise<Task> {
  if (options.repo === undefined) {
    const look = await checkDocs(sampleDir, undefined, cli.signal);
    return { name: "Sample docs", folder: sampleDir, look, prompt: options.prompt ?? samplePrompt };
  }
  const folder = await existingFolder(resolve(options.repo));
  const look = await checkDocs(folder, options.docs, cli.signal);
  return { name: "A copy of your docs", folder, look, prompt: options.prompt ?? ownPrompt };
}

async function runTask(cli: Cli, narrator: Narrator, server: Server, task: Task): Promise<AgentJob> {
  const { docsDir, pages, findings } = task.look;
  narrator.begin(`importing ${task.name.toLowerCase()}`);
  const project = await server.admin.addProject({ name: task.name, forge: "local", repo: task.folder, docsDir });
  const { key } = await server.admin.createKey({ projectIds: [project.id], name: "demo", scope: "write" });
  narrator.done("import", `${task.name.toLowerCase()}${docsDir && `, in ${docsDir}/`}: ${pages}`);
  narrator.done("check", findings);

  const jobs = new Emend({ baseUrl: server.url, apiKey: key }).jobs(project.id);
  const created = await jobs.create({ prompt: task.prompt }, { signal: cli.signal });
  narrator.line();
  for (const line of wrap(task.prompt, narrator.width)) narrator.line(`  ${narrator.style.strong(line)}`);
  narrator.line(`  ${narrator.style.dim(`POST /v2/agent/${project.id}/job → 201 ${created.id}`)}`);
  narrator.line();
  return watchJob(jobs, created.id, { onEvent: createTeller(narrator).tell, signal: cli.signal });
}

async function tell(
  cli: Cli,
  narrator: Narrator,
  server: Server,
  result: { job: AgentJob; elapsedMs: number; isTold: boolean; options: DemoOptions },
): Promise<void> {
  const { job, elapsedMs } = result;
  const report = await server.admin.jobReport(job.id);
  if (result.options.json && !result.isTold) {
    const { id, status, prLink } = job;
    cli.stdout.write(`${JSON.stringify({ id, status, prLink, changedFiles: report.changedFiles, elapsedMs })}\n`);
  }
  if (report.failure) {
    throw new CliError("jobFailed", failureText("the job failed", report.failure));
  }
  await showReport(narrator, report, { env: cli.env, elapsedMs });
}

function tellDrift(cli: Cli, { pull, failed, job, after }: Drift, elapsedMs: number): void {
  const told = { pull, failed: failed.words, job: job.id, prLink: job.prLink, after: after.words, elapsedMs };
  cli.stdout.write(`${JSON.stringify(told)}\n`);
}

/** Returns on Enter, at the end of the input, or on Ctrl-C. */
async function untilDismissed(cli: Cli): Promise<void> {
  if (cli.signal.aborted) return;
  const listening = new AbortController();
  const options = { signal: AbortSignal.any([cli.signal, listening.signal]) };
  cli.stdin.resume();
  try {
    await Promise.race([once(cli.stdin, "data", options), once(cli.stdin, "end", options)]);
  } catch (error) {
    if (!cli.signal.aborted) throw error;
  } finally {
    listening.abort();
    cli.stdin.pause();
  }
}

interface Look {
  /** Inside the folder. Empty: all of it. */
  docsDir: string;
  pages: string;
  findings: string;
}

/** What a docs folder contains and its problems, in words. The folder is only read. */
async function checkDocs(folder: string, docsDir: string | undefined, signal: AbortSignal): Promise<Look> {
  if (await isBareRepository(folder)) {
    return { docsDir: docsDir ?? "", pages: "a bare repository", findings: "when the job runs" };
  }
  const site = await openSite(folderTree(folder), { signal, ...(docsDir === undefined ? {} : { docsDir }) });
  if (site.pages.length === 0) {
    throw new CliError(
      "usage",
      `no page of documentation was found in ${join(folder, docsDir ?? "")}; name another folder with --repo or --docs`,
    );
  }
  const counts = new Map<string, number>();
  for (const { check } of await checkSite(site)) counts.set(check, (counts.get(check) ?? 0) + 1);
  const found = [...counts].sort(([, a], [, b]) => b - a);
  return {
    docsDir: docsDir ?? site.root,
    pages: `${counted(site.pages.length, "page")}, ${site.framework}`,
    findings:
      found.map(([check, count]) => counted(count, check.replaceAll("-", " "))).join(", ") || "nothing is wrong",
  };
}

/** It has no files, only objects, which the server reads. */
async function isBareRepository(folder: string): Promise<boolean> {
  const parts = await Promise.allSettled([access(join(folder, "HEAD")), access(join(folder, "objects"))]);
  return parts.every(({ status }) => status === "fulfilled");
}

interface WayBack {
  /** Logs one browser in, once, and opens the pull request. */
  link: string;
  /** The pull request's address. */
  page: string;
  dataDir: string;
  url: string;
  staysUp: boolean;
  isDashboardBuilt: boolean;
}

/** The link, and how to open it: now if the server keeps running, or later if it stops with this command. */
export function showWayBack(narrator: Narrator, way: WayBack): void {
  const { style } = narrator;
  const page = new URL(way.page).pathname;
  const place = `--data ${shellWord(way.dataDir)} --port ${new URL(way.url).port}`;
  const serve = asTyped(`emend serve ${place} --link ${shellWord(page)}`);
  const once = style.dim("(works once, for an hour: it logs your browser in)");
  if (way.staysUp) {
    narrator.line(`  ${style.strong("Open the pull request")} ${once}`);
    showLink();
    narrator.line();
    narrator.line(`  ${style.dim("The server stays up for it. Press Enter or Ctrl-C to stop; to start it again:")}`);
    narrator.line(`  ${style.dim(serve)}`);
  } else {
    narrator.line("  The server stops now. This starts it again, and prints a new link to the pull request:");
    narrator.line(`  ${serve}`);
    narrator.line();
    narrator.line(`  ${style.strong("The pull request, while it runs")} ${once}`);
    showLink();
  }
  narrator.line();

  function showLink(): void {
    narrator.line(`  ${style.link(way.link)}`);
    if (way.isDashboardBuilt) return;
    narrator.line(
      `  ${style.bad("The dashboard is not built, so this page is empty.")} To build it, run this, then restart the server:`,
    );
    narrator.line("  npm run build:dashboard");
  }
}

interface DemoServer {
  server: Server;
  dataDir: string;
  isDashboardBuilt: boolean;
  stop(): Promise<void>;
}

/** A real server, on this machine only, with its own data. */
async function startDemoServer(cli: Cli, narrator: Narrator, options: DemoOptions): Promise<DemoServer> {
  const startedAt = performance.now();
  narrator.line();
  narrator.begin("starting Emend: server, Postgres and git, on this machine alone");
  const { dataDir, port, release } = await placeOf(cli, options);
  try {
    const { isDashboardBuilt, loadConfig, startServer } = await import("@emend/server");
    const config = loadConfig(demoEnvironment(cli.env), { dataDir, port, host: "127.0.0.1", role: "all" });
    const server = await startServer(config).catch(rethrowNaming(port));
    narrator.done("server", `${server.url}, ready after ${seconds(performance.now() - startedAt)}`);
    return {
      server,
      dataDir,
      isDashboardBuilt: isDashboardBuilt(),
      stop: () => server.stop().finally(release),
    };
  } catch (error) {
    release();
    throw error;
  }
}

async function placeOf(cli: Cli, { data, port }: DemoOptions): Promise<Place> {
  if (data === undefined) return takePlace(cacheDir(cli.env), port);
  return { dataDir: resolve(data), port: port ?? 0, release: () => {} };
}

/** The demo uses no configuration except the model: another database or port is not its own. */
export function demoEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith("EMEND_") || name === "EMEND_MODEL");
  return { ...Object.fromEntries(kept), EMEND_LOG_LEVEL: "silent" };
}

/** A data directory and its port, for this process only. */
export interface Place {
  dataDir: string;
  /** 0: any free one. */
  port: number;
  release(): void;
}

const firstPort = 4610;
const placesMax = 20;

/**
 * The first free place. A directory always gets the same port, so that earlier links stay valid. A running demo keeps
 * its place, and this one gets another. With a port of the person's choice, only the directory is searched.
 */
export async function takePlace(parent: string, chosenPort?: number): Promise<Place> {
  const { tryFileLock } = await import("@emend/server");
  for (let number = 1; number <= placesMax; number += 1) {
    const dataDir = join(parent, number === 1 ? "demo" : `demo-${number}`);
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const lock = tryFileLock(join(dataDir, "demo.lock"));
    if (!lock) continue;
    const port = chosenPort ?? firstPort + number - 1;
    if (chosenPort !== undefined || (await isPortFree(port))) return { dataDir, port, release: lock.release };
    lock.release();
  }
  throw new Error(`${placesMax} demos run already; stop one, or name a folder with --data DIR`);
}

async function isPortFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen(port, "127.0.0.1");
    await once(probe, "listening");
  } catch {
    return false;
  }
  probe.close();
  await once(probe, "close");
  return true;
}
