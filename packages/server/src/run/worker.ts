import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { createWakeUp } from "@emend/base/locks.ts";
import type { Logger } from "@emend/base/logger.ts";
import type { Mirrors } from "@emend/tree";
import { homeMs } from "../db/home-worker.ts";
import { channels, type Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import { createAnnounceChange } from "../jobs/announce.ts";
import { findActiveJobs } from "../jobs/read/job-reader.ts";
import { claimRun, holdRoomForSuspect, jobsBesideMax } from "../jobs/run/claim-run.ts";
import type { LeasedJob } from "../jobs/run/leased-job.ts";
import { LeaseLost, renewLeases, sweepLeases } from "../jobs/run/leases.ts";
import type { Disk } from "../lib/disk.ts";
import type { CrashPoint } from "./crash-points.ts";
import { type LeaseTimes, startLeaseKeeper } from "./keep-leases.ts";
import { type ActiveRun, Released, type Stages, Stalled, startRun } from "./run.ts";
import { type Patience, runClaimedJob } from "./run-job.ts";

interface WorkerDeps {
  pool: Pool;
  /** For the thread that renews leases, which has its own connection. */
  databaseUrl: string;
  listener: Listener;
  log: Logger;
  stages: Stages;
  /** Without room on it, no job is claimed. */
  disk?: Disk;
  /** Which projects this worker is a home of. Without it, of all. */
  homes?: { tellRoom(hasRoom: boolean): void; homeSlots(): Promise<Buffer | null> };
  crashPoint(name: CrashPoint): void;
  onSettled?(outcome: string, projectId: string): void;
}

export interface WorkerOptions extends Partial<LeaseTimes>, Partial<Patience> {
  /** Concurrent runs in this process. */
  concurrency: number;
  /** Concurrent runs per project, unless its settings say otherwise. */
  lanes?: number;
  pollMs?: number;
  /** How long a job waits for its home workers before another takes it. */
  homeMs?: number;
  /** The time limit for a shutdown. */
  drainMsMax?: number;
  /** A run may store nothing for as long as its longest step, or for this if it is longer, and a grace. */
  stepMsMin?: number;
  stepGraceMs?: number;
  /** How long a run that ends may take to leave what it waits for. */
  leaveMsMax?: number;
}

export interface Worker {
  /** Claims nothing new, lets runs reach their next step and releases them. Resolves within `drainMsMax`. */
  stop(): Promise<void>;
}

const defaults = {
  lanes: 4,
  pollMs: 1_000,
  homeMs,
  leaseMs: 16_000,
  renewEveryMs: 4_000,
  stallMsMax: 60_000,
  drainMsMax: 25_000,
  // Fetching a base and a build have their own limits, which are shorter.
  stepMsMin: 20 * 60_000,
  stepGraceMs: 5 * 60_000,
  leaveMsMax: 2_000,
  crashesMax: 3,
  retriesMax: 5,
  retryMs: 5_000,
};
const awayMsMax = 5_000;
const sweepEveryMsMax = 500;
/** An idle process claims a suspect immediately. One busy process makes room for it if no other did. */
const makeRoomAfterMs = 500;
const roomHeldMs = 15_000;

/** Claims due jobs and runs them until stopped. NOTIFY is only a hint; polling finds every job. */
export function startWorker(deps: WorkerDeps, given: WorkerOptions): Worker {
  const { log } = deps;
  const options = { ...defaults, ...given };
  const runs = new Map<string, { run: ActiveRun; settled: Promise<void> }>();
  const wake = createWakeUp();
  const processEnds = new AbortController();
  const roomToken = randomUUID();
  const announceChange = createAnnounceChange({ db: deps.pool, log });
  let stopping = false;

  const keeper = startLeaseKeeper({
    ...options,
    databaseUrl: deps.databaseUrl,
    log,
    onLost,
  });
  const sweeper = startSweeper({ pool: deps.pool, log }, options);
  const unlisten = [
    deps.listener.on(channels.jobDue, () => wake.ring()),
    deps.listener.onReset(() => wake.ring()),
    deps.listener.on(channels.stopAsked, (jobId) => void checkLeases(jobId)),
  ];
  const claiming = claimWhileWanted();
  const watching = setInterval(endStalled, Math.min(5_000, options.stepGraceMs)).unref();

  /** A run is bounded by its own progress, whatever it waits for: otherwise its lease would be renewed for ever. */
  function endStalled(): void {
    for (const { run } of runs.values()) {
      const quietMs = run.pendingCalls > 0 ? 0 : performance.now() - run.progressAtMs;
      const stepMsMax = Math.max(run.job.turnMsMax, options.stepMsMin);
      if (quietMs < stepMsMax + options.stepGraceMs) continue;
      run.controller.abort(new Stalled());
    }
  }

  function onLost(token: string): void {
    const run = runs.get(token)?.run;
    run?.controller.abort(new LeaseLost(run.job.id));
  }

  /** A cancel or an archive took the job's lease away. The keeper would notice it some seconds later. */
  async function checkLeases(jobId: string): Promise<void> {
    const leases = [...runs.values()].map(({ run }) => run.job.lease).filter((lease) => lease.jobId === jobId);
    if (leases.length === 0) return;
    const lost = await renewLeases(deps.pool, leases, options.leaseMs).catch(() => []);
    lost.forEach(onLost);
  }

  async function claimWhileWanted(): Promise<void> {
    let failures = 0;
    let lookAfter = "";
    let foundInRound = false;
    let makeRoomAtMs = Number.POSITIVE_INFINITY;
    while (!stopping) {
      const isMakingRoom =
        runs.size > 0 &&
        performance.now() >= makeRoomAtMs &&
        (await holdRoomForSuspect(deps.pool, roomToken, roomHeldMs).catch(() => false));
      if (isMakingRoom) for (const { run } of runs.values()) run.draining = true;
      const hasRoom = !isMakingRoom && runs.size < runsMax();
      deps.homes?.tellRoom(hasRoom);
      if (!hasRoom || (await deps.disk?.problem())) {
        await wake.wait(options.pollMs);
        continue;
      }
      try {
        const running = [...runs.values()].map(({ run }) => run.job);
        const slots = (await deps.homes?.homeSlots()) ?? null;
        const { holder } = deps.listener;
        const claim = await claimRun(deps.pool, { ...options, holder, lookAfter, running, slots });
        lookAfter = claim.lookAfter;
        if (!claim.suspectWaits) makeRoomAtMs = Number.POSITIVE_INFINITY;
        else makeRoomAtMs = Math.min(makeRoomAtMs, performance.now() + makeRoomAfterMs);
        foundInRound ||= claim.job !== null;
        if (claim.job) start(claim.job);
        if (lookAfter === "") {
          if (!foundInRound) await wake.wait(options.pollMs);
          foundInRound = false;
        }
        failures = 0;
      } catch (error) {
        log.warn({ err: error }, "could not claim a job, retrying");
        failures += 1;
        await wake.wait(Math.min(options.pollMs * 2 ** (failures - 1), awayMsMax) * (0.5 + Math.random() / 2));
      }
    }
  }

  function runsMax(): number {
    return Math.min(
      ...[...runs.values()].map(({ run }) => jobsBesideMax(run.job.crashes, options.concurrency)),
      options.concurrency,
    );
  }

  function start(job: LeasedJob): void {
    const run = startRun(job);
    keeper.hold(job.lease);
    const patience = { crashesMax: options.crashesMax, retriesMax: options.retriesMax, retryMs: options.retryMs };
    const settled = runClaimedJob(
      { ...deps, announceChange, leaseMs: options.leaseMs, leaveMsMax: options.leaveMsMax, patience },
      run,
      processEnds.signal,
    ).finally(() => {
      keeper.drop(job.lease);
      runs.delete(job.lease.token);
      wake.ring();
    });
    runs.set(job.lease.token, { run, settled });
  }

  async function stop(): Promise<void> {
    stopping = true;
    for (const forget of unlisten) forget();
    wake.ring();
    const idle = Promise.all([claiming, sweeper.stop()]);
    await drainRuns({ idle, runs }, options.drainMsMax);
    clearInterval(watching);
    processEnds.abort();
    await keeper.close();
  }

  let stopped: Promise<void> | undefined;
  return {
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/**
 * Lets runs reach their next stored step or their end, and interrupts those that take too long; at most one turn is
 * lost. The last fifth of the time is for releasing them.
 */
async function drainRuns(
  worker: { idle: Promise<unknown>; runs: ReadonlyMap<string, { run: ActiveRun; settled: Promise<void> }> },
  drainMsMax: number,
): Promise<void> {
  // A pending claim may still start a run. A database that hangs must not use up the time.
  await doneWithin(worker.idle, drainMsMax * 0.1);
  const runs = [...worker.runs.values()];
  const all = Promise.all(runs.map(({ settled }) => settled));
  for (const { run } of runs) run.draining = true;
  if (await doneWithin(all, drainMsMax * 0.7)) return;
  for (const { run } of runs) run.controller.abort(new Released());
  await doneWithin(all, drainMsMax * 0.2);
}

async function doneWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const clock = new AbortController();
  const late = pause(ms, false, { signal: clock.signal }).catch(() => false);
  const done = await Promise.race([work.then(() => true), late]);
  clock.abort();
  return done;
}

/**
 * Looks for lost workers and expired leases twice a second. After a database outage it waits half a lease first: leases expired whose
 * workers are healthy and about to renew, and an outage must not count as a crash of the job.
 */
function startSweeper(
  deps: { pool: Pool; log: Logger },
  options: { pollMs: number; leaseMs: number },
): { stop(): Promise<void> } {
  const everyMs = Math.min(options.pollMs, sweepEveryMsMax);
  const wake = createWakeUp();
  let stopping = false;
  let patientUntilMs = 0;

  const sweeping = (async () => {
    while (!stopping) {
      try {
        if (performance.now() < patientUntilMs) await deps.pool.query("select 1");
        else await sweep(deps, everyMs);
      } catch (error) {
        deps.log.warn({ err: error }, "could not sweep expired leases, retrying");
        patientUntilMs = performance.now() + options.leaseMs / 2;
      }
      if (!stopping) await wake.wait(everyMs);
    }
  })();

  return {
    async stop() {
      stopping = true;
      wake.ring();
      await sweeping;
    },
  };
}

async function sweep(deps: { pool: Pool; log: Logger }, everyMs: number): Promise<void> {
  // A little less than the pause, so that this node's own turn is not missed by a millisecond.
  for (const { id, crashes, isGone } of await sweepLeases(deps.pool, everyMs * 0.9)) {
    const what = isGone ? "worker is gone; its job is queued again" : "lease expired; its job is queued again";
    deps.log.warn({ jobId: id, crashes }, what);
  }
}

/**
 * Unpins what finished jobs had pinned in this node's mirrors, removes those of deleted projects, runs git's garbage
 * collection, and evicts mirrors if there are too many.
 */
export async function sweepMirrors(
  deps: { pool: Pool; mirrors: Mirrors },
  signal: AbortSignal,
  unusedDays: number | null,
): Promise<void> {
  const mirrored = await deps.mirrors.projects();
  for (const projectId of mirrored) await tidyMirrorOf(deps, projectId, signal);
  const { rows } = await deps.pool.query<{ id: string }>(
    `select id from unnest($1::text[]) as mirrored (id) where not exists (select from projects where projects.id = mirrored.id)
       and not exists (select from context_repositories where context_repositories.id = mirrored.id)`,
    [mirrored],
  );
  const usedBeforeMs = unusedDays === null ? Number.NEGATIVE_INFINITY : Date.now() - unusedDays * 86_400_000;
  await deps.mirrors.maintain(signal, { projects: new Set(rows.map(({ id }) => id)), usedBeforeMs });
}

/** Unpins what finished jobs had pinned in a project's mirror, and repacks it. */
export async function tidyMirrorOf(
  deps: { pool: Pool; mirrors: Mirrors },
  projectId: string,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const mirror = await deps.mirrors.open(projectId);
  const pinned = await mirror.pinnedJobs();
  if (pinned.length === 0) return;
  const active = await findActiveJobs(deps.pool, pinned);
  const final = pinned.filter((jobId) => !active.has(jobId));
  if (final.length > 0) await mirror.tidy(final, signal);
}

const jobsBetweenTidying = 20;

/** Tidies repositories in the background: after every few finished jobs of a project, one project at a time. */
export function createTidying(deps: { log: Logger; tidy(projectId: string, signal: AbortSignal): Promise<void> }): {
  settled(projectId: string): void;
  stop(): Promise<void>;
} {
  const settled = new Map<string, number>();
  const stopping = new AbortController();
  let tidying = Promise.resolve();

  return {
    settled(projectId) {
      const count = (settled.get(projectId) ?? 0) + 1;
      settled.set(projectId, count % jobsBetweenTidying);
      if (count < jobsBetweenTidying) return;
      tidying = tidying
        .then(() => (stopping.signal.aborted ? undefined : deps.tidy(projectId, stopping.signal)))
        .catch((error) => deps.log.warn({ err: error, projectId }, "repositories not tidied, retrying later"));
    },
    async stop() {
      stopping.abort();
      await tidying;
    },
  };
}
