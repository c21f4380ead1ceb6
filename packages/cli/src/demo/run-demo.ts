import { join } from "node:path";
import { type AgentJob, Emend } from "@emend/sdk";
import type { Server } from "@emend/server";
import { type Cli, CliError } from "../cli.ts";
import { existingFolder } from "../commands/project-add.ts";
import { resolvePath } from "../resolve-path.ts";
import { liveNarrator, type Narrator, plainNarrator, silentNarrator } from "../terminal/narrator.ts";
import { findDocsDir } from "./find-docs-dir.ts";
import { followJob } from "./follow-job.ts";
import { showFailure, showReport } from "./show-report.ts";
import { showWayBack } from "./show-way-back.ts";
import { startDemoServer } from "./start-demo-server.ts";
import { untilDismissed } from "./until-dismissed.ts";

export interface DemoOptions {
  repo?: string;
  docs?: string;
  data?: string;
  json?: boolean;
}

const sampleDir = join(import.meta.dirname, "..", "..", "sample");
const samplePrompt =
  'Move guides/auth to security/authentication, replace "API token" with "access key", and fix broken links.';
const ownPrompt = "Fix broken links.";

interface Task {
  name: string;
  folder: string;
  docsDir: string;
  prompt: string;
}

/** From nothing to a pull request, through the same HTTP interface, database and git that a real installation uses. */
export async function runDemo(cli: Cli, options: DemoOptions): Promise<void> {
  const startedAt = performance.now();
  const task = await taskOf(cli, options);
  const isLive = Boolean(cli.stdout.isTTY) && !options.json;
  const live = isLive ? liveNarrator(cli.stdout) : null;
  const narrator = live ?? (options.json ? silentNarrator : plainNarrator(cli.stdout));
  try {
    const { server, dataDir, stop } = await startDemoServer(cli, narrator, options.data);
    try {
      const job = await carryOut(cli, narrator, server, task);
      await tell(cli, narrator, server, { task, job, elapsedMs: Math.round(performance.now() - startedAt), options });
      if (job.status === "failed") throw new CliError("jobFailed", "the demo's job failed; its reason is above");
      if (job.prLink) {
        const link = await server.admin.createLoginLink(job.prLink);
        showWayBack(cli, narrator, { link, dataDir, url: server.url, isLive });
        if (isLive && cli.stdin.isTTY) await untilDismissed(cli);
      }
    } finally {
      narrator.begin("stopping");
      await stop();
    }
  } finally {
    live?.end();
  }
}

async function taskOf(cli: Cli, options: DemoOptions): Promise<Task> {
  if (options.repo === undefined) return { name: "Sample docs", folder: sampleDir, docsDir: "", prompt: samplePrompt };
  const folder = await existingFolder(resolvePath(cli, options.repo));
  const docsDir = options.docs ?? (await findDocsDir(folder));
  return { name: "A copy of your docs", folder, docsDir, prompt: ownPrompt };
}

async function carryOut(cli: Cli, narrator: Narrator, server: Server, task: Task): Promise<AgentJob> {
  narrator.begin(`importing ${task.name.toLowerCase()}`);
  const project = await server.admin.addProject({
    name: task.name,
    forge: "local",
    repo: task.folder,
    docsDir: task.docsDir,
  });
  const { key } = await server.admin.createKey({ projectIds: [project.id], name: "demo", scope: "write" });
  narrator.done("import", task.docsDir ? `${task.name.toLowerCase()}, in ${task.docsDir}/` : task.name.toLowerCase());

  const jobs = new Emend({ baseUrl: server.url, apiKey: key }).jobs(project.id);
  const created = await jobs.create({ prompt: task.prompt }, { signal: cli.signal });
  narrator.line();
  narrator.line(`  ${narrator.style.strong(task.prompt)}`);
  narrator.line(`  ${narrator.style.dim(`POST /v2/agent/${project.id}/job → 201 ${created.id}`)}`);
  narrator.line();
  return followJob({ jobs, admin: server.admin, narrator }, created.id, cli.signal);
}

async function tell(
  cli: Cli,
  narrator: Narrator,
  server: Server,
  result: { task: Task; job: AgentJob; elapsedMs: number; options: DemoOptions },
): Promise<void> {
  const { job, elapsedMs } = result;
  const report = await server.admin.jobReport(job.id);
  if (result.options.json) {
    const { id, status, prLink } = job;
    cli.stdout.write(`${JSON.stringify({ id, status, prLink, changedFiles: report.changedFiles, elapsedMs })}\n`);
  }
  if (job.status === "failed") return showFailure(narrator, report);
  showReport(narrator, report, { env: cli.env, elapsedMs });
}
