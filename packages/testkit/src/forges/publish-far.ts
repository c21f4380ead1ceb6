import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createLogger } from "@emend/base/logger.ts";
import type { Forge } from "@emend/forges";
import {
  type CommitIds,
  createWriteQueue,
  type EnsuredPullRequest,
  ensurePullRequest,
  type Publication,
  type PublishDeps,
  type PublishInput,
  publishChange,
} from "@emend/publish";
import { createGit, createMirrors, type Mirror } from "@emend/tree";
import { isAppError } from "../../../server/src/errors.ts";
import { testCommit, testEntries } from "../publish-job.ts";
import { type FarEnd, startFarEnd, type Vendor } from "./far-end.ts";

const { signal } = new AbortController();

type PublishMore = Partial<PublishInput> & { forge?: Forge; baseRef?: string };

/** A worker's side of a forge: its mirror and its queue, without the job's row. */
export interface Publisher {
  /** Publishes the same change for a job, any number of times. `stored` is kept as a row would keep it. */
  publish(jobId: string, more?: PublishMore): Promise<Publication>;
  /** The same node's mirror and rows in another process, which has not seen a Retry-After. */
  restart(): void;
  /** Drops the stored state of a job. */
  forget(jobId: string): void;
  /** Only opens the pull request, for a branch that exists. */
  ensure(jobId: string, forge: Forge): Promise<EnsuredPullRequest>;
  /** The length of a second in waits. Short in tests of requests without a response. */
  secondMs: number;
  /** A run that must wait longer is not followed by another one. */
  waitMsMax: number;
  /** Whether a request of the job may still open a pull request. */
  mayStillOpen(jobId: string): boolean;
  warnings: string[];
  close(): Promise<void>;
}

export interface FarPublisher extends Publisher {
  far: FarEnd;
  /** Only opens the pull request, for a branch that it makes. */
  open(jobId: string, forge: Forge): Promise<EnsuredPullRequest>;
}

export async function startFarPublisher(vendor: Vendor): Promise<FarPublisher> {
  const far = await startFarEnd(vendor);
  const publisher = await startPublisher(() => far.open());
  const first = far.state.repository.git("rev-parse", "refs/heads/main");
  const { close: closePublisher } = publisher;
  return Object.assign(publisher, {
    far,
    open(jobId: string, forge: Forge) {
      far.state.repository.git("update-ref", `refs/heads/emend/${jobId}`, first);
      return publisher.ensure(jobId, forge);
    },
    async close() {
      await closePublisher();
      await far.close();
    },
  });
}

export async function startPublisher(openForge: () => Forge): Promise<Publisher> {
  const dir = mkdtempSync(join(tmpdir(), "emend-far-"));
  const mirrors = createMirrors({
    dir,
    git: createGit({ allowedProtocols: ["http"] }),
    log: createLogger({ level: "silent" }),
  });
  const mirror: Mirror = await mirrors.open("prj_far");
  let writes = createWriteQueue();
  const rows = new Map<string, CommitIds>();
  const creates = new Map<string, number | null>();
  const leftOf = (untilMs: number | null | undefined) => (untilMs ? untilMs - performance.now() : null);
  const warnings: string[] = [];

  const first = await mirror.fetchBase(
    { remote: await openForge().gitRemote(signal), jobId: "job_first", baseRef: null },
    signal,
  );

  function prepare(jobId: string, forge: Forge, base: PublishInput["base"]) {
    const deps: PublishDeps = {
      forge,
      mirror,
      writes,
      get secondMs() {
        return publisher.secondMs;
      },
      store: {
        saveCommit: async (ids) => void rows.set(jobId, ids),
        savePush: async () => {},
        saveCreate: async (ms) => void creates.set(jobId, ms === null ? null : performance.now() + ms),
      },
      warn: async (message) => void warnings.push(message),
      crashPoint: () => {},
      renewForEffect: async () => ({ sendBeforeMs: performance.now() + 5_000 }),
    };
    const input: PublishInput = {
      job: {
        id: jobId,
        createdAt: new Date(1_700_000_000_000),
        branch: `emend/${jobId}`,
        prompt: "Replace the term.",
        followUps: [],
        url: `https://emend.test/job/${jobId}`,
      },
      usage: { steps: 1, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 },
      sources: [],
      model: "emend/rules",
      base,
      entries: testEntries,
      baseConflict: [],
      title: "Replace a term",
      summary: "Replaced the term on 1 page.",
      checks: { introduced: [], fixed: [], findingsBefore: 0, findingsAfter: 0 },
      draft: false,
      commit: testCommit,
      stored: rows.get(jobId) ?? null,
      branchExpected: null,
      createLeftMs: leftOf(creates.get(jobId)),
      mayRepeatCreate: true,
      continuesClosed: true,
    };
    return { deps, input };
  }

  async function publish(jobId: string, more: PublishMore = {}): Promise<Publication> {
    const { forge = openForge(), baseRef = null, ...rest } = more;
    const remote = await forge.gitRemote(signal);
    const base = await mirror.fetchBase({ remote, jobId, baseRef }, signal);
    const { deps, input } = prepare(jobId, forge, base);
    return untilKnown(() => {
      const createLeftMs = leftOf(creates.get(jobId));
      const stored = rows.get(jobId) ?? null;
      return publishChange(deps, { ...input, createLeftMs, stored, ...rest }, signal);
    });
  }

  /** As the worker does it: a run that has to wait for an effect is followed by another one. */
  async function untilKnown<T>(run: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!isAppError(error) || !error.isPending || (error.retryAfterMs ?? 0) > publisher.waitMsMax) throw error;
        await pause(error.retryAfterMs);
      }
    }
  }

  function ensure(jobId: string, forge: Forge): Promise<EnsuredPullRequest> {
    return untilKnown(() => {
      const { deps, input } = prepare(jobId, forge, first);
      return ensurePullRequest(deps, input, first.commit, signal);
    });
  }

  const publisher: Publisher = {
    secondMs: 66,
    waitMsMax: 30_000,
    publish,
    restart() {
      writes = createWriteQueue();
    },
    forget(jobId) {
      rows.delete(jobId);
      creates.delete(jobId);
    },
    ensure,
    mayStillOpen: (jobId) => (leftOf(creates.get(jobId)) ?? 0) > 0,
    warnings,
    async close() {
      await mirrors.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return publisher;
}
