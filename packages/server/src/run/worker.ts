import { channels } from "../db/channels.ts";
import type { Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import { claimRun } from "../jobs/claim-run.ts";
import { LeaseLost, StopAsked } from "../jobs/lease.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import type { Logger } from "../lib/logger.ts";
import { createWakeUp } from "../lib/wake-up.ts";
import { type ActiveRun, startRun } from "./active-run.ts";
import { carryOut } from "./carry-out.ts";
import type { CrashPoint } from "./crash-points.ts";
import { drainRuns } from "./drain-runs.ts";
import { type LeaseTimes, startLeaseKeeper } from "./keep-leases.ts";
import type { Stages } from "./run.ts";
import type { Patience } from "./settlement-of.ts";
import { startSweeper } from "./sweep-loop.ts";

export interface WorkerDeps {
  pool: Pool;
  /** For the thread that renews leases, which has a connection of its own. */
  databaseUrl: string;
  listener: Listener;
  log: Logger;
  stages: Stages;
  crashPoint(name: CrashPoint): void;
  onSettled?(outcome: string): void;
}

export interface WorkerOptions extends Partial<LeaseTimes>, Partial<Patience> {
  /** Runs at the same time in this process. */
  concurrency: number;
  /** Runs at the same time in one project, where its settings do not say. */
  lanes?: number;
  pollMs?: number;
  /** How long a stop may take. */
  drainMsMax?: number;
}

export interface Worker {
  /** Claims nothing new, lets runs reach their next step, gives them back. Resolves within `drainMsMax`. */
  stop(): Promise<void>;
}

const defaults = {
  lanes: 4,
  pollMs: 1_000,
  leaseMs: 20_000,
  renewEveryMs: 5_000,
  stallMsMax: 60_000,
  drainMsMax: 25_000,
  crashesMax: 3,
  retriesMax: 5,
  retryMs: 5_000,
};
const awayMsMax = 5_000;

/** Claims due jobs and runs them, until stopped. NOTIFY is a hint; polling is the truth. */
export function startWorker(deps: WorkerDeps, given: WorkerOptions): Worker {
  const { log } = deps;
  const options = { ...defaults, ...given };
  const runs = new Map<string, { run: ActiveRun; settled: Promise<void> }>();
  const wake = createWakeUp();
  const processEnds = new AbortController();
  let stopping = false;

  const keeper = startLeaseKeeper({
    ...options,
    databaseUrl: deps.databaseUrl,
    log,
    onLost: (token) => abort(runs.get(token)?.run, LeaseLost),
    onStopAsked: (token) => abort(runs.get(token)?.run, StopAsked),
  });
  const sweeper = startSweeper({ pool: deps.pool, log }, options);
  const unlisten = [
    deps.listener.on(channels.jobDue, () => wake.ring()),
    deps.listener.onReset(() => wake.ring()),
    deps.listener.on(channels.stopAsked, (jobId) => {
      for (const { run } of runs.values()) if (run.job.id === jobId) abort(run, StopAsked);
    }),
  ];
  const claiming = claimWhileWanted();

  async function claimWhileWanted(): Promise<void> {
    let failures = 0;
    let lookAfter = "";
    let foundInRound = false;
    while (!stopping) {
      if (runs.size >= options.concurrency) {
        await wake.wait(options.pollMs);
        continue;
      }
      try {
        const claim = await claimRun(deps.pool, { ...options, lookAfter });
        lookAfter = claim.lookAfter;
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

  function start(job: LeasedJob): void {
    const run = startRun(job);
    keeper.hold(job.lease);
    const patience = { crashesMax: options.crashesMax, retriesMax: options.retriesMax, retryMs: options.retryMs };
    const settled = carryOut({ ...deps, leaseMs: options.leaseMs, patience }, run, processEnds.signal).finally(() => {
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

/** A stop that comes once the run publishes waits for the outcome; `end-run.ts` applies it. */
function abort(run: ActiveRun | undefined, Reason: typeof LeaseLost | typeof StopAsked): void {
  if (run === undefined || (Reason === StopAsked && run.publishing)) return;
  run.controller.abort(new Reason(run.job.id));
}
