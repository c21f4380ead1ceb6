import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Emend } from "@emend/sdk";
import type { Server } from "../src/compose/compose.ts";
import type { Files } from "./site-model.ts";
import type { Answer, EvalTask } from "./task.ts";

/** A running installation with its own folder: tasks go through the API, as they do for everybody. */
export interface Product {
  server: Server;
  /** Where its local forge keeps repositories. */
  forgeDir: string;
  /** For folders to import. */
  scratchDir: string;
  /** What the job's steps said, to count the tokens of each tool; absent: not counted. */
  readSteps?(jobId: string): Promise<readonly StoredStep[]>;
}

interface StoredStep {
  messages: ReadonlyArray<{ role: string; name?: string; output?: string }>;
}

export interface Attempt {
  answer: Answer;
  turns: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  ms: number;
  /** Tokens of each tool's results, at four characters a token. */
  tokensByTool: Readonly<Record<string, number>>;
}

const taskMsMax = 30 * 60_000;

/** Carries a task out on the product: a project on the local forge, a job, its follow-ups, and what they left behind. */
export async function attempt(product: Product, model: string, task: EvalTask, signal: AbortSignal): Promise<Attempt> {
  const { admin, url } = product.server;
  const startedAt = performance.now();
  const project = await addProject(product, task.name, task.files, model);
  for (const [name, files] of Object.entries(task.context ?? {})) {
    const source = await addProject(product, name, files, model);
    await admin.addContextRepository({ projectId: project, name, forge: "local", repo: source });
  }
  const { key } = await admin.createKey({ projectIds: [project], name: "eval", scope: "write" });
  const jobs = new Emend({ baseUrl: url, apiKey: key }).jobs(project);
  const bounded = { signal: AbortSignal.any([signal, AbortSignal.timeout(taskMsMax)]) };
  const { id } = await jobs.create({ prompt: task.prompt, model }, bounded);
  let job = await jobs.wait(id, bounded);
  for (const prompt of task.followUps ?? []) {
    if (job.status !== "completed") break;
    await jobs.message(id, { prompt }, bounded);
    job = await jobs.wait(id, bounded);
  }
  const run = await jobs.run(id, bounded);
  const steps = (await product.readSteps?.(id)) ?? [];
  const branch = job.prLink === null ? null : job.source.ref;
  const answer = {
    name: model,
    files: branch === null ? task.files : await filesOf(join(product.forgeDir, `${project}.git`), branch),
    title: run.title ?? run.failure?.code ?? "",
    summary: run.failure?.message ?? run.summary ?? "",
    sources: run.sources.map(({ repository, path, line }) => `${repository ? `@${repository}/` : ""}${path}:${line}`),
  };
  return {
    answer,
    turns: run.steps.count,
    inputTokens: run.usage.inputTokens,
    outputTokens: run.usage.outputTokens,
    costUsd: run.usage.costUsd,
    ms: performance.now() - startedAt,
    tokensByTool: tokensByTool(steps),
  };
}

async function addProject(product: Product, name: string, files: Files, model: string): Promise<string> {
  const repo = await mkdtemp(join(product.scratchDir, "docs-"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(repo, path)), { recursive: true });
    await writeFile(join(repo, path), text);
  }
  const { id } = await product.server.admin.addProject({ name, forge: "local", repo, settings: { models: [model] } });
  await rm(repo, { recursive: true, force: true });
  return id;
}

/** Every file at the tip of a branch. */
async function filesOf(gitDir: string, branch: string): Promise<Files> {
  const git = async (...args: string[]) =>
    (await promisify(execFile)("git", ["--git-dir", gitDir, ...args], { maxBuffer: 64 << 20 })).stdout;
  const paths = (await git("ls-tree", "-rz", "--name-only", branch)).split("\0").filter((path) => path !== "");
  const files: Record<string, string> = {};
  for (const path of paths) files[path] = await git("cat-file", "blob", `${branch}:${path}`);
  return files;
}

function tokensByTool(steps: readonly StoredStep[]): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const { role, name, output } of steps.flatMap(({ messages }) => messages)) {
    if (role === "tool" && name) totals[name] = (totals[name] ?? 0) + Math.ceil((output ?? "").length / 4);
  }
  return totals;
}
