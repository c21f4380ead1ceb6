import { parseCronItems, type Runner, run, type TaskList, Logger as TaskLogger } from "graphile-worker";
import type { Pool } from "../db/pool.ts";
import type { Logger } from "../lib/logger.ts";
import { createWakeUp } from "../lib/wake-up.ts";
import { archiveByRetention } from "./archive-by-retention.ts";
import { automationsTask } from "./ask-automations.ts";
import { askSiteCheck, siteCheckTask } from "./ask-site-check.ts";
import { dropAutomationRuns } from "./drop-automation-runs.ts";
import { dropDeliveries } from "./drop-deliveries.ts";
import { dropExpiredSessions } from "./drop-expired-sessions.ts";
import { dropIdempotencyKeys } from "./drop-idempotency-keys.ts";
import { dropOldLogins } from "./drop-old-logins.ts";
import { dropQuotaUses } from "./drop-quota-uses.ts";
import { dropRunContents } from "./drop-run-contents.ts";

export interface TasksDeps {
  pool: Pool;
  log: Logger;
  /** Housekeeping of this node's own folders: done on every node, not once for all of them. */
  sweepMirrors(signal: AbortSignal): Promise<void>;
  /** Makes jobs of what is due at the projects' automations; gives how many were looked at. */
  fireAutomations(): Promise<number>;
  /** The projects whose sites were never looked at. */
  listNewSites(): Promise<readonly string[]>;
  /** The projects whose sites are to be looked at again. */
  listDueSiteChecks(): Promise<readonly string[]>;
  /** Looks at a project's whole site and stores what it found. */
  checkSite(projectId: string, signal: AbortSignal): Promise<void>;
}

export interface TasksOptions {
  /** Null: final jobs are archived by people alone. */
  archiveAfterDays(): Promise<number | null>;
  contentsKeptDays?: number;
  sweepMirrorsEveryMs?: number;
}

export interface Tasks {
  stop(): Promise<void>;
}

const deliveriesKeptDays = 30;
const automationRunsKeptDays = 90;
const restartMs = 5_000;
const hourMs = 3_600_000;

/** Cron and housekeeping, in a schema of their own: once across all nodes, as long as one of them runs. */
export function startTasks(deps: TasksDeps, options: TasksOptions): Tasks {
  const stopping = new AbortController();
  const jobs = { ...housekeeping(deps, options), ...siteChecks(deps) };
  const loops = [
    untilStopped(stopping.signal, restartMs, () => runTasks(deps, jobs, stopping.signal)),
    untilStopped(stopping.signal, options.sweepMirrorsEveryMs ?? hourMs, () => deps.sweepMirrors(stopping.signal)),
  ];

  async function untilStopped(signal: AbortSignal, pauseMs: number, work: () => Promise<void>): Promise<void> {
    const wake = createWakeUp();
    signal.addEventListener("abort", () => wake.ring());
    while (!signal.aborted) {
      await work().catch((error) => {
        if (!signal.aborted) deps.log.warn({ err: error }, "housekeeping failed, retrying");
      });
      if (!signal.aborted) await wake.wait(pauseMs);
    }
  }

  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

interface Housekeeping {
  cron: string;
  work(): Promise<number>;
}

function housekeeping(deps: TasksDeps, options: TasksOptions): Record<string, Housekeeping> {
  const { pool, fireAutomations } = deps;
  const { archiveAfterDays, contentsKeptDays = 7 } = options;
  return {
    drop_idempotency_keys: { cron: "7 * * * *", work: () => dropIdempotencyKeys(pool) },
    drop_quota_uses: { cron: "17 * * * *", work: () => dropQuotaUses(pool) },
    drop_run_contents: { cron: "27 * * * *", work: () => dropRunContents(pool, contentsKeptDays) },
    drop_expired_sessions: { cron: "37 * * * *", work: () => dropExpiredSessions(pool) },
    [automationsTask]: { cron: "* * * * *", work: fireAutomations },
    drop_automation_runs: { cron: "2 * * * *", work: () => dropAutomationRuns(pool, automationRunsKeptDays) },
    drop_deliveries: { cron: "57 * * * *", work: () => dropDeliveries(pool, deliveriesKeptDays) },
    drop_old_logins: { cron: "52 * * * *", work: () => dropOldLogins(pool) },
    archive_by_retention: {
      cron: "47 * * * *",
      // Asked each time: people change it while this runs.
      async work() {
        const days = await archiveAfterDays();
        return days === null ? 0 : archiveByRetention(pool, days);
      },
    },
  };
}

/** Each look is a task of its own: a large site must not hold up the others. */
function siteChecks(deps: TasksDeps): Record<string, Housekeeping> {
  async function askAll(projects: readonly string[]): Promise<number> {
    for (const projectId of projects) await askSiteCheck(deps.pool, projectId);
    return projects.length;
  }
  return {
    check_new_sites: { cron: "* * * * *", work: async () => askAll(await deps.listNewSites()) },
    check_sites: { cron: "*/10 * * * *", work: async () => askAll(await deps.listDueSiteChecks()) },
  };
}

/** Resolves when told to stop; rejects when the runner gives up, as it does after some time without its database. */
async function runTasks(deps: TasksDeps, jobs: Record<string, Housekeeping>, signal: AbortSignal): Promise<void> {
  const taskList: TaskList = {};
  for (const [name, { work }] of Object.entries(jobs)) {
    taskList[name] = async () => {
      const rows = await work();
      if (rows > 0) deps.log.info({ task: name, rows }, "housekeeping done");
    };
  }
  taskList[siteCheckTask] = async (payload) => deps.checkSite((payload as { projectId: string }).projectId, signal);
  const runner: Runner = await run({
    pgPool: deps.pool,
    schema: "emend_tasks",
    // One that waits for a forge must not hold up what is due by the minute.
    concurrency: 3,
    // The process has its own way to stop, and must not be ended from here.
    noHandleSignals: true,
    taskList,
    parsedCronItems: parseCronItems(
      Object.entries(jobs).map(([task, { cron }]) => ({
        task,
        match: cron,
        // What was due while no node ran is done once when one comes up; the next hour repeats what failed.
        options: { backfillPeriod: hourMs, maxAttempts: 3, jobKey: task },
      })),
    ),
    logger: taskLogger(deps.log),
  });
  const stop = () => void runner.stop().catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  await runner.promise.finally(() => signal.removeEventListener("abort", stop));
}

function taskLogger(log: Logger): TaskLogger {
  const levels = { error: "error", warning: "warn", info: "debug", debug: "trace" } as const;
  return new TaskLogger(() => (level, message) => log[levels[level]]({ detail: message }, "task runner"));
}
