import type { FollowUp, Step } from "../agent/agent.ts";
import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { loadRun } from "../jobs/load-run.ts";
import { type RecordedBase, recordBase } from "../jobs/record-base.ts";
import { type RecordedChange, recordChange } from "../jobs/record-change.ts";
import { recordCommit } from "../jobs/record-commit.ts";
import { type PinnedContext, recordContext } from "../jobs/record-context.ts";
import { type RecordedMove, recordMovedCommit } from "../jobs/record-moved-base.ts";
import { recordNotice } from "../jobs/record-notice.ts";
import { type RecordedPullRequest, recordPullRequest } from "../jobs/record-pull-request.ts";
import { recordPush } from "../jobs/record-push.ts";
import { recordStep } from "../jobs/record-step.ts";
import { renewForEffect } from "../jobs/renew-for-effect.ts";
import { setPhase } from "../jobs/set-phase.ts";
import { withholdContents } from "../jobs/withhold-contents.ts";
import type { Logger } from "../lib/logger.ts";
import type { OverlayEntry } from "../tree/tree.ts";
import { type ActiveRun, Released } from "./active-run.ts";
import type { CrashPoint } from "./crash-points.ts";
import { describeStep } from "./describe-step.ts";
import { throughOutage } from "./through-outage.ts";

/** What a run may write: everything fenced by its lease, and said again while the database is away. */
export interface Recorder {
  load(): Promise<{ steps: readonly Step[]; followUps: readonly FollowUp[]; edits: readonly OverlayEntry[] }>;
  setPhase(phase: "working" | "checking"): Promise<void>;
  saveBase(base: RecordedBase): Promise<void>;
  saveContext(pinned: PinnedContext): Promise<void>;
  saveStep(step: Step, edits: readonly OverlayEntry[]): Promise<void>;
  saveChange(change: RecordedChange): Promise<void>;
  /** `move`: stored with it where the base moved on. */
  saveCommit(ids: { treeId: string; commitId: string }, move?: RecordedMove): Promise<void>;
  savePush(): Promise<void>;
  savePullRequest(pullRequest: RecordedPullRequest): Promise<void>;
  /** What did not work and does not fail the job. */
  saveNotice(words: string): Promise<void>;
  /** Before anything leaves this machine for good: until when, by the monotonic clock, it may be sent. */
  renewForEffect(): Promise<{ sendBeforeMs: number }>;
}

export interface RecorderDeps {
  pool: Pool;
  log: Logger;
  leaseMs: number;
  crashPoint(name: CrashPoint): void;
}

export function createRecorder(deps: RecorderDeps, run: ActiveRun): Recorder {
  const { pool, crashPoint } = deps;
  const { lease } = run.job;
  const { signal } = run.controller;
  const write = <T>(work: () => Promise<T>) => throughOutage(deps.log, signal, work);
  return {
    async load() {
      const { steps, followUps, edits } = await write(() => loadRun(pool, lease.jobId));
      run.hasWork ||= steps.length > 0;
      // Stored by `saveStep` below, and by nobody else.
      return { steps: steps as readonly Step[], followUps, edits: edits as readonly OverlayEntry[] };
    },
    setPhase: (phase) => write(() => setPhase(pool, lease, phase)),
    saveBase: (base) => write(() => recordBase(pool, lease, base)),
    saveContext: (pinned) => write(() => recordContext(pool, lease, pinned)),
    async saveStep(step, edits) {
      crashPoint("before-step-stored");
      await write(() => recordStep(pool, lease, { step, edits, event: describeStep(step) }));
      run.hasWork = true;
      crashPoint("after-step-stored");
      if (run.draining) run.controller.abort(new Released());
      signal.throwIfAborted();
    },
    saveChange: (change) =>
      write(() =>
        inTransaction(pool, async (client) => {
          await recordChange(client, lease, change);
          if (change.isWithheld) await withholdContents(client, lease);
        }),
      ),
    async saveCommit(ids, move) {
      await write(() => (move ? recordMovedCommit(pool, lease, ids, move) : recordCommit(pool, lease, ids)));
      run.publishing = true;
    },
    savePush: () => write(() => recordPush(pool, lease)),
    savePullRequest: (pullRequest) => write(() => recordPullRequest(pool, lease, pullRequest)),
    saveNotice: (words) => write(() => recordNotice(pool, lease, words)),
    renewForEffect: () => write(() => renewForEffect(pool, lease, deps.leaseMs)),
  };
}
