import { parseCronItems, type Runner, run, type TaskList, Logger as TaskLogger } from "graphile-worker";
import { channels } from "../db/channels.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import type { Logger } from "../lib/logger.ts";
import { createWakeUp } from "../lib/wake-up.ts";

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

interface TasksOptions {
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

const automationsTask = "fire_automations";

/** Lets a worker look at automations now. A hint: they are looked at every minute, and a queue that is not there yet is too. */
export async function askAutomations(db: Queryable): Promise<void> {
  await db
    .query(`select emend_tasks.add_job('${automationsTask}', job_key := '${automationsTask}', max_attempts := 3)`)
    .catch(() => {});
}

const siteCheckTask = "check_site";

/** Asked again before it is begun, it is the same one; a worker takes it within moments. */
export async function askSiteCheck(db: Queryable, projectId: string): Promise<void> {
  try {
    await db.query(
      `select emend_tasks.add_job('${siteCheckTask}', payload := json_build_object('projectId', $1::text),
         job_key := '${siteCheckTask}/' || $1, max_attempts := 3)`,
      [projectId],
    );
  } catch (error) {
    // The queue's schema is made by the first worker: until one has run, nobody could look.
    if (!["3F000", "42883"].includes(String((error as { code?: unknown }).code))) throw error;
    throw new AppError("unavailable", { publicMessage: "No worker has run yet, and it takes one to look at a site." });
  }
}

/** Archives jobs that have been final for so long, as a person would. Links stay. */
export async function archiveByRetention(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(500, (rowsMax) =>
    db.query(
      `with old as (
         select id from jobs where status in ('completed', 'failed') and ended_at < now() - make_interval(days => $1)
         order by ended_at limit $2 for no key update skip locked
       ), changed as (
         update jobs set status = 'archived', archived_at = clock_timestamp(),
           event_seq = event_seq + 1, updated_at = clock_timestamp()
         from old where jobs.id = old.id
         returning jobs.id, event_seq
       ), told as (
         insert into job_events (job_id, seq, kind, data)
         select id, event_seq, 'archived', '{"reason": "retention"}' from changed
       )
       select pg_notify('${channels.jobChanged}', id) from changed`,
      [afterDays, rowsMax],
    ),
  );
}

/** What a run needs to go on is of no use once the job is long final: the diff, the usage and the events stay. */
export async function dropRunContents(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(100, (rowsMax) =>
    db.query(
      `with done as (
         select id from jobs
         where ended_at < now() - make_interval(days => $1) and contents_dropped_at is null and status <> 'active'
         order by ended_at limit $2 for no key update skip locked
       ), emptied as (
         update steps set messages = '[]' from done where steps.job_id = done.id
       ), dropped as (
         delete from overlay using done where overlay.job_id = done.id
       )
       update jobs set contents_dropped_at = clock_timestamp() from done where jobs.id = done.id`,
      [afterDays, rowsMax],
    ),
  );
}

/** An automation's history; what still waits stays, and so does what made a job: it says what people closed. */
export async function dropAutomationRuns(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(1000, (rowsMax) =>
    db.query(
      `delete from automation_runs where id in (
         select id from automation_runs
         where settled_at < now() - make_interval(days => $1) and state in ('merged', 'skipped') limit $2)`,
      [afterDays, rowsMax],
    ),
  );
}

/** The delivery log; what is still to be sent stays. */
export async function dropDeliveries(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(1000, (rowsMax) =>
    db.query(
      `delete from deliveries where id in (
         select id from deliveries
         where created_at < now() - make_interval(days => $1) and state <> 'pending' order by created_at limit $2)`,
      [afterDays, rowsMax],
    ),
  );
}

/** Expired links and sessions open nothing any more; a day later they are of no use in finding out what happened. */
export async function dropExpiredSessions(db: Queryable): Promise<number> {
  const links = await db.query("delete from login_links where expires_at < now() - interval '1 day'");
  const sessions = await db.query("delete from sessions where expires_at < now() - interval '1 day'");
  return (links.rowCount ?? 0) + (sessions.rowCount ?? 0);
}

/** Keys are honoured for 24 hours; `create_job` looks at their age itself, so dropping them late changes nothing. */
export async function dropIdempotencyKeys(db: Queryable): Promise<number> {
  return inBatches(2_000, (rowsMax) =>
    db.query(
      `delete from idempotency_keys where (project_id, key) in (
         select project_id, key from idempotency_keys where created_at < now() - interval '25 hours'
         order by created_at limit $1 for update skip locked)`,
      [rowsMax],
    ),
  );
}

const loginsKeptDays = 90;

/** Attempts count for minutes, and logins are of interest for a while; what was changed stays in the audit log. */
export async function dropOldLogins(db: Queryable): Promise<number> {
  await db.query("delete from login_attempts where at < now() - interval '1 hour'");
  const { rowCount } = await db.query(
    `delete from audit_log where action in ('login', 'login.failed', 'login_link.created')
       and at < now() - make_interval(days => $1)`,
    [loginsKeptDays],
  );
  return rowCount ?? 0;
}

/** Uses of long ago. One window more than counts is kept: a clock set forward and back again frees nothing. */
export async function dropQuotaUses(db: Queryable): Promise<number> {
  return inBatches(2_000, (rowsMax) =>
    db.query(
      `delete from quota_uses where ctid in (
         select ctid from quota_uses where used_at < now() - interval '2 hours' limit $1 for update skip locked)`,
      [rowsMax],
    ),
  );
}

/** Repeats a bounded statement until it finds little left: many short transactions instead of one that holds rows for long. */
export async function inBatches(
  rowsMax: number,
  change: (rowsMax: number) => Promise<{ rowCount: number | null }>,
): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await change(rowsMax);
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < rowsMax) return total;
  }
}
