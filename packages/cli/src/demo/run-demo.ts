import { join, resolve } from "node:path";
import { type AgentJob, Emend } from "@emend/sdk";
import type { Server } from "@emend/server";
import { type Cli, CliError } from "../cli.ts";
import { existingFolder } from "../commands/project-add.ts";
import type { Narrator } from "../terminal/narrator.ts";
import { wrap } from "../terminal/wrap.ts";
import { failureText } from "../watch/failure-text.ts";
import { narratorFor } from "../watch/narrator-for.ts";
import { createTeller } from "../watch/teller.ts";
import { watchJob } from "../watch/watch-job.ts";
import { type Look, lookAtDocs } from "./look-at-docs.ts";
import { showReport } from "./show-report.ts";
import { showWayBack } from "./show-way-back.ts";
import { startDemoServer } from "./start-demo-server.ts";
import { untilDismissed } from "./until-dismissed.ts";

export interface DemoOptions {
  repo?: string;
  docs?: string;
  data?: string;
  json?: boolean;
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

/** From nothing to a pull request, through the same HTTP interface, database and git that a real installation uses. */
export async function runDemo(cli: Cli, options: DemoOptions): Promise<void> {
  const startedAt = performance.now();
  const task = await taskOf(cli, options);
  const isLive = Boolean(cli.stdout.isTTY) && cli.env.TERM !== "dumb" && !options.json;
  const narrator = narratorFor(cli, cli.stdout, options);
  try {
    const { server, dataDir, isDashboardBuilt, stop } = await startDemoServer(cli, narrator, options.data);
    try {
      const job = await carryOut(cli, narrator, server, task);
      await tell(cli, narrator, server, { job, elapsedMs: Math.round(performance.now() - startedAt), options });
      if (job.prLink) {
        const link = await server.admin.createLoginLink(job.prLink);
        const staysUp = isLive && Boolean(cli.stdin.isTTY);
        const page = job.prLink;
        showWayBack(cli, narrator, { link, page, dataDir, url: server.url, staysUp, isDashboardBuilt });
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
    const look = await lookAtDocs(sampleDir, undefined, cli.signal);
    return { name: "Sample docs", folder: sampleDir, look, prompt: samplePrompt };
  }
  const folder = await existingFolder(resolve(options.repo));
  const look = await lookAtDocs(folder, options.docs, cli.signal);
  return { name: "A copy of your docs", folder, look, prompt: ownPrompt };
}

async function carryOut(cli: Cli, narrator: Narrator, server: Server, task: Task): Promise<AgentJob> {
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
  result: { job: AgentJob; elapsedMs: number; options: DemoOptions },
): Promise<void> {
  const { job, elapsedMs } = result;
  const report = await server.admin.jobReport(job.id);
  if (result.options.json) {
    const { id, status, prLink } = job;
    cli.stdout.write(`${JSON.stringify({ id, status, prLink, changedFiles: report.changedFiles, elapsedMs })}\n`);
  }
  if (report.failure) {
    throw new CliError("jobFailed", failureText("the job failed", report.failure));
  }
  showReport(narrator, report, { env: cli.env, elapsedMs });
}
