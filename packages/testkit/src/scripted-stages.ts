import { setTimeout as pause } from "node:timers/promises";
import type { Overlay, OverlayEntry, Tree } from "@emend/tree";
import type { Pool } from "../../server/src/db/pool.ts";
import { AppError } from "../../server/src/errors.ts";
import type { LeasedJob } from "../../server/src/jobs/run/leased-job.ts";
import type { CrashPoint } from "../../server/src/run/crash-points.ts";
import type { AgentResult, AgentWork, OpenTree, PublishWork, Stages } from "../../server/src/run/run.ts";
import { type ScriptedForgeOptions, scriptedPublish } from "./scripted-forge.ts";

/** What a scripted run does. It is passed as the job's prompt. */
export interface Script {
  steps?: number;
  /** The duration of each model turn. */
  turnMs?: number;
  /** Blocks the event loop before the first turn, as a runaway computation would. */
  blockMs?: number;
  /** The pause between storing the commit and pushing it. */
  publishMs?: number;
  edits?: boolean;
  /** Asks a question after its first step, and hears the answer in its second. */
  asks?: boolean;
  fail?: {
    stage: "openTree" | "runAgent" | "publish";
    code: "model_unavailable" | "policy_denied" | "forge_unavailable";
    retryable: boolean;
  };
  /** Throws an unexpected error. */
  breakAt?: "openTree" | "publish";
  /** Kills its process, as the kernel's out-of-memory killer does. Only for workers in separate processes. */
  killsWorker?: boolean;
  verdict?: "passed" | "denied";
  limit?: "budget_exceeded";
}

const passed = {
  kind: "passed",
  introduced: [],
  fixed: [],
  constructs: [],
  findingsBefore: 0,
  findingsAfter: 0,
} as const;

/** Records the external effects of a scripted run: turns paid for, branches pushed, pull requests opened. */
export async function createFarEnds(pool: Pool): Promise<void> {
  await pool.query(`
    create table starts (job_id text, worker text, at timestamptz default clock_timestamp());
    create table turns (job_id text, number int, worker text, at timestamptz default clock_timestamp());
    create table pushes (job_id text, worker text, at timestamptz default clock_timestamp());
    create table pulls (job_id text, worker text, at timestamptz default clock_timestamp())`);
}

/**
 * Stages without git, model or forge, whose external effects are rows that a test can count. `forge`: publishes with the
 * product's own code, to a forge that loses responses.
 */
export function scriptedStages(deps: {
  pool: Pool;
  worker: string;
  crashPoint(name: CrashPoint): void;
  forge?: ScriptedForgeOptions;
}): Stages {
  const publish = deps.forge && scriptedPublish(deps, deps.forge);
  const scriptOf = (job: LeasedJob): Script => JSON.parse(job.prompt);
  return {
    async openTree(job, edits) {
      await deps.pool.query("insert into starts (job_id, worker) values ($1, $2)", [job.id, deps.worker]);
      failWhere(scriptOf(job), "openTree");
      return { base: { commit: "base" } as Tree, overlay: memoryOverlay(edits), baseBranch: "main" } satisfies OpenTree;
    },
    async runAgent(job, work, signal) {
      const script = scriptOf(job);
      failWhere(script, "runAgent");
      block(script.blockMs ?? 0);
      return takeTurns(deps, job, script, work, signal);
    },
    async review(job) {
      if (scriptOf(job).verdict !== "denied") return passed;
      return { kind: "denied", violations: [{ path: ".github/x.yml", rule: "ci files" }] };
    },
    diff: async () => ({ patch: Buffer.from("diff"), base: "base" }),
    openOnMovedBase: async () => ({ kind: "unmoved" }),
    async publish(job, work, signal) {
      const script = scriptOf(job);
      if (publish) return publish(job, work, signal);
      deps.crashPoint("before-commit");
      await work.recorder.saveCommit({ treeId: "tree", commitId: `commit-${job.id}` });
      deps.crashPoint("after-commit-stored");
      await pause(script.publishMs ?? 0, undefined, { signal });
      failWhere(script, "publish");
      return pushAndOpen(deps, job, work);
    },
  };
}

async function takeTurns(
  deps: { pool: Pool; worker: string },
  job: LeasedJob,
  script: Script,
  work: AgentWork,
  signal: AbortSignal,
): Promise<AgentResult> {
  const usage = { model: "scripted/last", inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, costUsd: 0 };
  for (let number = work.steps.length + 1; number <= (script.steps ?? 1); number += 1) {
    const said = script.asks && number === 2 ? await work.interjections() : null;
    if (said?.length === 0)
      return { outcome: { kind: "asked", summary: "Really?", options: [], step: 1 }, verdict: null };
    await pause(script.turnMs ?? 0, undefined, { signal });
    if (script.killsWorker) process.kill(process.pid, "SIGKILL");
    await deps.pool.query("insert into turns (job_id, number, worker) values ($1, $2, $3)", [
      job.id,
      number,
      deps.worker,
    ]);
    if (script.edits !== false) await work.overlay.set(`page-${number}.md`, Buffer.from(`page ${number}`));
    const heard = said?.map(({ text }) => ({ role: "user", text, from: "interjection" }) as const) ?? [];
    const taken = said ? { taken: said.map(({ id }) => id) } : {};
    await work.saveStep({ number, messages: heard, usage, ...taken }, work.overlay.takeDirty());
  }
  if (work.overlay.entries().length === 0)
    return { outcome: { kind: "unchanged", summary: "As it was." }, verdict: null };
  const verdict = await work.review({ title: "T", summary: "S" });
  if (script.limit)
    return { outcome: { kind: "stopped", code: script.limit, title: "T", summary: "Cut short." }, verdict };
  return { outcome: { kind: "finished", title: "T", summary: "S" }, verdict };
}

async function pushAndOpen(
  deps: { pool: Pool; worker: string; crashPoint(name: CrashPoint): void },
  job: LeasedJob,
  work: PublishWork,
) {
  await work.recorder.renewForEffect();
  deps.crashPoint("before-push");
  await deps.pool.query("insert into pushes (job_id, worker) values ($1, $2)", [job.id, deps.worker]);
  deps.crashPoint("after-push");
  await work.recorder.savePush();
  await work.recorder.renewForEffect();
  deps.crashPoint("before-create");
  const { rowCount } = await deps.pool.query(
    "insert into pulls (job_id, worker) select $1, $2 where not exists (select from pulls where job_id = $1)",
    [job.id, deps.worker],
  );
  deps.crashPoint("after-create");
  const url = `http://forge.test/${job.id}`;
  const pullRequest = {
    number: 1,
    url,
    state: "open",
    draft: false,
    head: job.branch,
    base: "main",
    body: "",
  } as const;
  return { kind: rowCount === 1 ? "opened" : "found", pullRequest, commitId: `commit-${job.id}` } as const;
}

function failWhere(script: Script, stage: "openTree" | "runAgent" | "publish"): void {
  if (script.breakAt === stage) throw new Error("broken on purpose");
  if (script.fail?.stage !== stage) return;
  throw new AppError(script.fail.code, { publicMessage: "Failed on purpose.", retryable: script.fail.retryable });
}

function block(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

function memoryOverlay(stored: readonly OverlayEntry[]): Overlay {
  const entries = new Map(stored.map((entry) => [entry.path, entry]));
  let dirty: OverlayEntry[] = [];
  const overlay = {
    commit: "base",
    async set(path: string, content: Buffer) {
      const entry = { path, mode: "100644", content } as const;
      entries.set(path, entry);
      dirty.push(entry);
    },
    entries: () => [...entries.values()],
    takeDirty() {
      const taken = dirty;
      dirty = [];
      return taken;
    },
  };
  // A scripted run reads no files.
  return overlay as unknown as Overlay;
}
