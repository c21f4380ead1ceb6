import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Emend } from "@emend/sdk";
import type { Server } from "../../server/src/compose/compose.ts";
import type { Files } from "./site-model.ts";
import type { Answer, EvalTask } from "./task.ts";

/** A running installation with its own folder. Tasks use the API, like everybody. */
export interface Product {
  server: Server;
  /** The local forge's folder. */
  forgeDir: string;
  /** For folders to import. */
  scratchDir: string;
  /** The job's steps, to count the tokens of each tool. Absent: not counted. */
  readSteps?(jobId: string): Promise<readonly StoredStep[]>;
}

interface StoredStep {
  messages: ReadonlyArray<{ role: string; name?: string; output?: string }>;
}

/** The instruction, for a project with these files or a copy of the repository in this folder. */
interface Work {
  name: string;
  docs: Files | string;
  context?: Readonly<Record<string, Files>> | undefined;
  prompt: string;
  followUps?: readonly string[] | undefined;
}

export interface Figures {
  turns: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  ms: number;
  /** Tokens of each tool's results, at four characters a token. */
  tokensByTool: Readonly<Record<string, number>>;
}

interface Ended extends Pick<Answer, "title" | "summary" | "sources"> {
  gitDir: string;
  /** Null if nothing was published. */
  branch: string | null;
  figures: Figures;
}

const taskMsMax = 30 * 60_000;

/** A task's answer: the resulting tree and texts. */
export async function attempt(
  product: Product,
  model: string,
  task: EvalTask,
  signal: AbortSignal,
): Promise<{ answer: Answer; figures: Figures }> {
  const { gitDir, branch, figures, ...words } = await runProduct(product, model, { ...task, docs: task.files }, signal);
  const files = branch === null ? task.files : await filesOf(gitDir, branch);
  return { answer: { name: model, files, ...words }, figures };
}

/** Runs a job and its follow-ups in a local project, each after the previous round has ended. */
export async function runProduct(product: Product, model: string, work: Work, signal: AbortSignal): Promise<Ended> {
  const { admin, url } = product.server;
  const startedAt = performance.now();
  const project = await addProject(product, work.name, work.docs, model);
  for (const [name, files] of Object.entries(work.context ?? {})) {
    const repo = await addProject(product, name, files, model);
    await admin.addContextRepository({ projectId: project, name, forge: "local", repo });
  }
  const { key } = await admin.createKey({ projectIds: [project], name: "eval", scope: "write" });
  const jobs = new Emend({ baseUrl: url, apiKey: key }).jobs(project);
  const bounded = { signal: AbortSignal.any([signal, AbortSignal.timeout(taskMsMax)]) };
  const { id } = await jobs.create({ prompt: work.prompt, model }, bounded);
  let job = await jobs.wait(id, bounded);
  for (const prompt of work.followUps ?? []) {
    if (job.status !== "completed") break;
    await jobs.message(id, { prompt }, bounded);
    job = await jobs.wait(id, bounded);
  }
  const run = await jobs.run(id, bounded);
  const { inputTokens, outputTokens, costUsd } = run.usage;
  return {
    gitDir: join(product.forgeDir, `${project}.git`),
    branch: job.prLink === null ? null : job.source.ref,
    title: run.title ?? run.failure?.code ?? "",
    summary: run.failure?.message ?? run.summary ?? "",
    sources: run.sources.map(({ repository, path, line }) => `${repository ? `@${repository}/` : ""}${path}:${line}`),
    figures: {
      turns: run.steps.count,
      inputTokens,
      outputTokens,
      costUsd,
      ms: performance.now() - startedAt,
      tokensByTool: tokensByTool((await product.readSteps?.(id)) ?? []),
    },
  };
}

async function addProject(product: Product, name: string, docs: Work["docs"], model: string): Promise<string> {
  const add = (repo: string) =>
    product.server.admin.addProject({ name, forge: "local", repo, settings: { models: [model] } });
  if (typeof docs === "string") return (await add(docs)).id;
  const repo = await mkdtemp(join(product.scratchDir, "docs-"));
  for (const [path, text] of Object.entries(docs)) {
    await mkdir(dirname(join(repo, path)), { recursive: true });
    await writeFile(join(repo, path), text);
  }
  const { id } = await add(repo);
  await rm(repo, { recursive: true, force: true });
  return id;
}

/** Every file at the tip of a branch. */
async function filesOf(gitDir: string, branch: string): Promise<Files> {
  const paths = (await git(gitDir, "ls-tree", "-rz", "--name-only", branch)).split("\0").filter((path) => path !== "");
  const files: Record<string, string> = {};
  for (const path of paths) files[path] = await git(gitDir, "cat-file", "blob", `${branch}:${path}`);
  return files;
}

export async function git(gitDir: string, ...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)("git", ["--git-dir", gitDir, ...args], { maxBuffer: 256 << 20 })).stdout;
}

function tokensByTool(steps: readonly StoredStep[]): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const { role, name, output } of steps.flatMap(({ messages }) => messages)) {
    if (role === "tool" && name) totals[name] = (totals[name] ?? 0) + Math.ceil((output ?? "").length / 4);
  }
  return totals;
}
