import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { interjectionsIn, type Step } from "@emend/agent";
import type { Logger } from "@emend/base/logger.ts";
import type { StepFile } from "@emend/contract";
import type { Verdict } from "@emend/review";
import type { OverlayEntry } from "@emend/tree";
import type { Pool } from "../db/pool.ts";
import { inTransaction, isDatabaseUnavailable } from "../db/transaction.ts";
import type { AnnounceChange } from "../jobs/announce.ts";
import { recordPictures } from "../jobs/page-pictures.ts";
import { recordPullRequest } from "../jobs/pull-requests.ts";
import { setPhase } from "../jobs/run/end-run.ts";
import type { LeasedJob, StoredSource } from "../jobs/run/leased-job.ts";
import { renewForEffect } from "../jobs/run/leases.ts";
import {
  type RecordedChange,
  recordChange,
  recordCommit,
  recordCreate,
  recordMovedCommit,
  recordPush,
} from "../jobs/run/record-change.ts";
import {
  loadInterjections,
  loadRun,
  recordBase,
  recordContext,
  recordNotice,
  recordStep,
  withholdContents,
} from "../jobs/run/record-work.ts";
import type { CrashPoint } from "./crash-points.ts";
import {
  type ActiveRun,
  type LimitCode,
  type OpenTree,
  type Recorder,
  Released,
  type Stages,
  type Words,
} from "./run.ts";

interface RecorderDeps {
  pool: Pool;
  log: Logger;
  leaseMs: number;
  announceChange: AnnounceChange;
  crashPoint(name: CrashPoint): void;
  processEnds: AbortSignal;
}

export function createRecorder(deps: RecorderDeps, run: ActiveRun): Recorder {
  const { pool, crashPoint } = deps;
  const { lease } = run.job;
  const { signal } = run.controller;
  async function progress<T>(until: AbortSignal, work: () => Promise<T>): Promise<T> {
    run.pendingCalls += 1;
    try {
      return await retryThroughOutage(deps.log, until, work);
    } finally {
      run.pendingCalls -= 1;
      run.progressAtMs = performance.now();
    }
  }
  const read = <T>(work: () => Promise<T>) => progress(signal, work);
  async function write<T>(work: () => Promise<T>): Promise<T> {
    const done = await read(work);
    deps.announceChange(lease.jobId);
    return done;
  }
  return {
    async load() {
      const { steps, followUps, edits } = await read(() => loadRun(pool, lease.jobId));
      run.hasWork ||= steps.length > 0;
      // Only `saveStep` below writes these.
      return { steps: steps as readonly Step[], followUps, edits: edits as readonly OverlayEntry[] };
    },
    setPhase: (phase) => write(() => setPhase(pool, lease, phase)),
    saveBase: (base) => write(() => recordBase(pool, lease, base)),
    saveContext: (pinned) => write(() => recordContext(pool, lease, pinned)),
    async saveStep(step, edits, changes = null) {
      crashPoint("before-step-stored");
      const diff = changes?.patch ?? null;
      const input = { step, edits, event: describeStep(step, changes?.files), diff, run: run.job.runs };
      // A model's answer was paid for: it is kept until it is stored, even if the run has ended meanwhile.
      const hasInterjections = await progress(deps.processEnds, () => recordStep(pool, lease, input));
      deps.announceChange(lease.jobId);
      if (step.taken) run.job.interjections = [...run.job.interjections, ...interjectionsIn([step])];
      run.job.hasInterjections = hasInterjections;
      run.hasWork = true;
      crashPoint("after-step-stored");
      if (run.draining) run.controller.abort(new Released());
      signal.throwIfAborted();
    },
    async interjections() {
      if (!run.job.hasInterjections) return [];
      const said = await read(() => loadInterjections(pool, lease.jobId));
      if (said.length > 0) crashPoint("after-interjections-read");
      return said;
    },
    saveChange: (change) =>
      write(() =>
        inTransaction(pool, async (client) => {
          await recordChange(client, lease, change);
          if (change.isWithheld) await withholdContents(client, lease);
        }),
      ),
    saveCommit: (ids, move) =>
      write(() => (move ? recordMovedCommit(pool, lease, ids, move) : recordCommit(pool, lease, ids))),
    savePush: () => write(() => recordPush(pool, lease)),
    saveCreate: (effectMs) => write(() => recordCreate(pool, lease, effectMs)),
    savePullRequest: (pullRequest) => write(() => recordPullRequest(pool, lease, pullRequest)),
    savePictures: (pictures) => write(() => recordPictures(pool, lease, pictures)),
    saveNotice: (words) => write(() => recordNotice(pool, lease, words)),
    renewForEffect: () => read(() => renewForEffect(pool, lease, deps.leaseMs)),
  };
}

const withheld: Words = {
  title: "Withheld: the change contained a secret",
  summary: "The change contained text that looks like a credential. Emend published nothing and deleted the change.",
};

/** A reviewed change as it is stored. If it contains a credential, neither its diff nor its texts are stored. */
export async function toRecordedChange(
  stages: Stages,
  job: LeasedJob,
  tree: OpenTree,
  judged: Words & { verdict: Verdict; limitReached: LimitCode | null; sources: readonly StoredSource[] },
  signal: AbortSignal,
): Promise<RecordedChange> {
  const { verdict, limitReached, sources } = judged;
  const holdsSecret = verdict.kind === "denied" && verdict.violations.some((violation) => violation.isSecret);
  const { title, summary } = holdsSecret ? withheld : judged;
  const nothing = { patch: Buffer.alloc(0), base: tree.base.commit };
  const { patch, base } = holdsSecret ? nothing : await stages.diff(job, tree, { title, summary }, signal);
  return {
    title,
    pullTitle: holdsSecret ? (job.title ?? title) : pullTitleOf(job, judged),
    summary,
    reply: holdsSecret ? null : (judged.reply ?? null),
    isWithheld: holdsSecret,
    limitReached,
    sources,
    findings: verdict,
    figures: describeVerdict(verdict),
    diff: patch,
    diffBase: base,
    codeOwners: null,
    changeKind: null,
    ...(holdsSecret ? {} : await stages.classify?.(job, tree, { verdict, diff: patch })),
  };
}

/** A verdict in figures, for people who watch a job. */
export function describeVerdict(verdict: Verdict): unknown {
  if (verdict.kind === "denied") return { verdict: "denied", violations: verdict.violations.slice(0, 20) };
  return {
    verdict: verdict.kind,
    introduced: verdict.introduced.length,
    fixed: verdict.fixed.length,
    before: verdict.findingsBefore,
    after: verdict.findingsAfter,
  };
}

const textMax = 200;
const valueMax = 120;
const listMax = 20;

/** A step's event: the model's text, its tools without their contents, and the files that changed. */
export function describeStep(step: Step, files: readonly StepFile[] = []): unknown {
  const said = step.messages.flatMap((message) => (message.role === "assistant" ? [message] : []));
  const failed = new Set(
    step.messages.flatMap((message) => (message.role === "tool" && message.isError ? [message.callId] : [])),
  );
  return {
    number: step.number,
    model: step.usage.model,
    text: shorten(said.map((message) => message.text).join("\n"), textMax),
    tools: said
      .flatMap((message) => message.toolCalls)
      .map((call) => ({ name: call.name, input: describeInput(call.input), ok: !failed.has(call.id) })),
    ...(files.length > 0 && { files }),
  };
}

/** Shows paths, terms and flags. Longer strings are contents, so only their length is shown. */
function describeInput(input: unknown): unknown {
  if (input === null || typeof input !== "object") return {};
  return Object.fromEntries(Object.entries(input).flatMap(([key, value]) => describeValue(key, value)));
}

function describeValue(key: string, value: unknown): [string, unknown][] {
  if (typeof value === "number" || typeof value === "boolean") return [[key, value]];
  if (Array.isArray(value) && value.every((item) => typeof item === "string" && item.length <= valueMax))
    return [[key, value.slice(0, listMax)]];
  if (typeof value !== "string") return [];
  return value.length <= valueMax ? [[key, value]] : [[key, `${value.length} characters`]];
}

function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/**
 * A pull request keeps its title, whatever the title of a follow-up's commit, unless the follow-up asks to change it.
 */
export function pullTitleOf(job: Pick<LeasedJob, "continuesBranch" | "title">, words: Words): string {
  return words.pullTitle ?? (job.continuesBranch ? job.title : null) ?? words.title;
}

/** Compared with earlier rounds: a title that a person has set since is not touched. */
export function isRetitled(job: Pick<LeasedJob, "rounds" | "continuesBranch" | "title">, words: Words): boolean {
  const before = job.rounds.at(-1)?.pullTitle ?? null;
  return before !== null && pullTitleOf(job, words) !== before;
}

const firstPauseMs = 100;
const pauseMsMax = 2_000;

/**
 * Retries a write until the database accepts it. This way a run survives an outage, and a model's turn that was about
 * to be stored is not paid for twice. `write` must be idempotent.
 */
export async function retryThroughOutage<T>(log: Logger, signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
    signal.throwIfAborted();
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      log.warn({ err: error }, "database unavailable, retrying the write");
      await pause(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}
