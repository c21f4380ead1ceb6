import { assertNever } from "@emend/base/fault.ts";
import type { Logger } from "@emend/base/logger.ts";
import { Cron } from "croner";
import { homeMs, isHomeWorker } from "../db/home-worker.ts";
import { channels, type Listener } from "../db/listener.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { isDatabaseUnavailable } from "../db/transaction.ts";
import { type RunningQueue, startQueue } from "../db/work-queue.ts";
import { isAppError } from "../errors.ts";

export interface TaskKind {
  /** In UTC. Absent: only on request. */
  cron?: string;
  /** A number is the count of changed rows. `words`: what was asked for with it. */
  work(subject: string, signal: AbortSignal, words: string): Promise<unknown>;
}

export interface TaskQueueDeps {
  pool: Pool;
  listener: Pick<Listener, "on" | "onReset">;
  log: Logger;
  /** As for jobs: what concerns a project is left to its home workers for a while. */
  homes?: { homeSlots(): Promise<Buffer | null> };
}

/** Renewed while a task runs. After this time, another node takes over a killed node's task. */
const leaseMs = 60_000;
/** The delays after the first and second unexpected failure. Then it waits for its next time, or for a person. */
const retryMs = [3_000, 10_000] as const;
/** The delays while a forge or another service is unavailable; the last one repeats. */
const awayMs = [3_000, 10_000, 30_000, 60_000, 300_000, 600_000] as const;
const keptDays = 7;
const atOnceMax = 12;
/** Of one kind: tasks that wait for a forge must not delay emails, site checks, and what runs every minute. */
const atOnceMaxOfKind = 3;

/**
 * Runs each task once across all nodes: by schedule, and on request. It is the outbox too: work that a service cannot take
 * now is kept for a week and retried when the service says, or with growing pauses. A stop of the process is no try. What
 * was given up stays, with its reason, until somebody runs it again (a dead letter).
 */
export function startTaskQueue(
  deps: TaskQueueDeps,
  kinds: Readonly<Record<string, TaskKind>>,
  options: { pollEveryMs?: number | undefined; homeMs?: number },
): RunningQueue {
  const { pool } = deps;
  let isScheduled = false;
  return startQueue<ClaimedTask>(deps, {
    name: "tasks",
    channel: channels.taskDue,
    pollEveryMs: options.pollEveryMs ?? 5_000,
    atOnceMax,
    async claim(underWay) {
      if (!isScheduled) await schedule(pool, kinds);
      isScheduled = true;
      const isFree = (name: string) => underWay.filter(({ kind }) => kind === name).length < atOnceMaxOfKind;
      const slots = (await deps.homes?.homeSlots()) ?? null;
      return claimTask(pool, Object.keys(kinds).filter(isFree), slots, options.homeMs ?? homeMs);
    },
    async work(task, stopping) {
      const kind = kinds[task.kind];
      if (!kind) return;
      const startedAt = performance.now();
      const outcome = await runTask(deps, kind, task, stopping);
      await settleTask(pool, task, nextOf(kind, task, outcome, task.nowMs + performance.now() - startedAt));
    },
  });
}

interface ClaimedTask {
  id: string;
  kind: string;
  subject: string;
  words: string | null;
  asked: number;
  /** Including this one. */
  tries: number;
  /** How many times in a row a service was unavailable. */
  waits: number;
  waitedMs: number;
  lease: string;
  /** The database's clock, which decides what is due. */
  nowMs: number;
}

type TaskOutcome =
  | { kind: "done" }
  /** The process stops. */
  | { kind: "released" }
  /** A service is unavailable, or asks for a pause. */
  | { kind: "waits"; words: string; retryAfterMs: number }
  | { kind: "failed"; words: string };

interface Next {
  tries: number;
  waits: number;
  problem: string | null;
  /** Null: never, unless it was requested meanwhile. Infinity: when somebody runs it again. */
  dueMs: number | null;
  /** Until when the service asked for a pause, which a request does not end. */
  notBeforeMs: number | null;
}

function nextOf(kind: TaskKind, task: ClaimedTask, outcome: TaskOutcome, nowMs: number): Next {
  const { tries, waits } = task;
  const next = { tries: 0, waits: 0, problem: null, dueMs: nextRunMs(kind, task.nowMs), notBeforeMs: null };
  const givenUp = (problem: string) => ({ ...next, problem, dueMs: next.dueMs ?? Number.POSITIVE_INFINITY });
  switch (outcome.kind) {
    case "done":
      return next;
    case "released":
      return { ...next, tries: tries - 1, waits, dueMs: nowMs };
    case "waits": {
      if (task.waitedMs > keptDays * 86_400_000) return givenUp(outcome.words);
      const pauseMs = Math.max(awayMs[Math.min(waits, awayMs.length - 1)] ?? 0, outcome.retryAfterMs);
      const notBeforeMs = outcome.retryAfterMs > 0 ? nowMs + outcome.retryAfterMs : null;
      return { tries: 0, waits: waits + 1, problem: outcome.words, dueMs: nowMs + pauseMs, notBeforeMs };
    }
    case "failed": {
      const pauseMs = retryMs[tries - 1];
      return pauseMs === undefined ? givenUp(outcome.words) : { ...next, tries, dueMs: nowMs + pauseMs };
    }
    default:
      return assertNever(outcome);
  }
}

async function runTask(
  deps: TaskQueueDeps,
  kind: TaskKind,
  task: ClaimedTask,
  stopping: AbortSignal,
): Promise<TaskOutcome> {
  const { id, tries } = task;
  // Claimed while the process began to stop. An aborted signal tells nobody who listens to it from now on.
  if (stopping.aborted) return { kind: "released" };
  // Its nodes were killed, perhaps by the task.
  if (tries > retryMs.length + 1) return { kind: "failed", words: "The processes that ran it were killed." };
  const lost = new AbortController();
  const renewing = setInterval(() => {
    renewTask(deps.pool, task).then(
      (isHeld) => isHeld || lost.abort(),
      (err) => deps.log.warn({ err, task: id }, "could not renew a task's lease"),
    );
  }, leaseMs / 3);
  try {
    const rows = await kind.work(task.subject, AbortSignal.any([stopping, lost.signal]), task.words ?? "");
    if (typeof rows === "number" && rows > 0) deps.log.info({ task: id, rows }, "housekeeping done");
    return { kind: "done" };
  } catch (err) {
    if (stopping.aborted) return { kind: "released" };
    deps.log.warn({ err, task: id, tries, waits: task.waits }, "task failed");
    if (isAppError(err) && err.retryable) {
      return { kind: "waits", words: err.publicMessage, retryAfterMs: err.retryAfterMs ?? 0 };
    }
    // A request must outlast a failover of the database, however often its queries failed.
    if (isDatabaseUnavailable(err)) return { kind: "waits", words: "The database was unavailable.", retryAfterMs: 0 };
    return { kind: "failed", words: isAppError(err) ? err.publicMessage : "It failed. The log says why." };
  } finally {
    clearInterval(renewing);
  }
}

/** Null: only on request. */
function nextRunMs({ cron }: TaskKind, nowMs: number): number | null {
  return cron === undefined ? null : (new Cron(cron, { timezone: "UTC" }).nextRun(new Date(nowMs))?.getTime() ?? null);
}

/** Times that passed while no node ran lead to one run: `due_at` stays. */
async function schedule(db: Queryable, kinds: Readonly<Record<string, TaskKind>>): Promise<void> {
  const { rows } = await db.query<{ nowMs: number }>(`select ${databaseNowMs} as "nowMs"`);
  for (const [name, kind] of Object.entries(kinds)) {
    const dueMs = nextRunMs(kind, rows[0]?.nowMs ?? Date.now());
    if (dueMs === null) continue;
    await db.query("insert into tasks (kind, due_at) values ($1, to_timestamp($2 / 1000.0)) on conflict do nothing", [
      name,
      dueMs,
    ]);
  }
}

const databaseNowMs = "(extract(epoch from clock_timestamp()) * 1000)::float8";

/** Claims the task that has been due longest, of the kinds that this release knows. */
async function claimTask(
  db: Queryable,
  kinds: readonly string[],
  slots: Buffer | null,
  waitMs: number,
): Promise<ClaimedTask | undefined> {
  const { rows } = await db.query<ClaimedTask>({
    name: "claim-task",
    text: `
      with due as (
        select kind, subject from tasks
        where kind = any ($1::text[]) and due_at <= clock_timestamp()
          and (held_until is null or held_until <= clock_timestamp())
          and (${isHomeWorker("$3", "subject")}
            or due_at <= clock_timestamp() - make_interval(secs => $4))
        order by due_at limit 1 for no key update skip locked
      )
      update tasks set tries = tries + 1, lease = gen_random_uuid(),
        held_until = clock_timestamp() + make_interval(secs => $2)
      from due where tasks.kind = due.kind and tasks.subject = due.subject
      returning concat_ws('/', tasks.kind, nullif(tasks.subject, '')) as id, tasks.kind, tasks.subject, words, asked, tries, lease,
        waits, coalesce(extract(epoch from clock_timestamp() - waiting_since)::float8 * 1000, 0) as "waitedMs",
        ${databaseNowMs} as "nowMs"`,
    values: [kinds, leaseMs / 1000, slots, waitMs / 1000],
  });
  return rows[0];
}

/** False: the lease expired, and another node has the task. */
async function renewTask(db: Queryable, { kind, subject, lease }: ClaimedTask): Promise<boolean> {
  const { rowCount } = await db.query(
    `update tasks set held_until = clock_timestamp() + make_interval(secs => $4)
     where kind = $1 and subject = $2 and lease = $3`,
    [kind, subject, lease, leaseMs / 1000],
  );
  return rowCount === 1;
}

/** Sets when it is due again. Fenced by the lease. */
async function settleTask(db: Queryable, { kind, subject, lease, asked }: ClaimedTask, next: Next): Promise<void> {
  await db.query(
    `with gone as (
       delete from tasks where kind = $1 and subject = $2 and lease = $3 and asked = $4 and $6::float8 is null
     )
     update tasks set lease = null, held_until = null, tries = $5, waits = $7, problem = $8,
       waiting_since = case when $8::text is not null then coalesce(waiting_since, clock_timestamp()) end,
       not_before = to_timestamp($9 / 1000.0),
       due_at = case when asked = $4 then to_timestamp($6 / 1000.0) else greatest(due_at, to_timestamp($9 / 1000.0)) end
     where kind = $1 and subject = $2 and lease = $3 and (asked <> $4 or $6::float8 is not null)`,
    [kind, subject, lease, asked, next.tries, next.dueMs, next.waits, next.problem, next.notBeforeMs],
  );
}

export interface WaitingTask {
  kind: string;
  subject: string;
  problem: string;
  since: string;
  /** Null: it was given up. */
  nextTryAt: string | null;
}

/** What waits for a service or was given up, oldest first. */
export async function listWaitingTasks(db: Queryable): Promise<readonly WaitingTask[]> {
  const { rows } = await db.query<WaitingTask>(
    `select kind, subject, problem, wire_time(waiting_since) as since, case when isfinite(due_at) then wire_time(due_at) end as "nextTryAt"
     from tasks where problem is not null order by waiting_since limit 50`,
  );
  return rows;
}

/** Runs again what was given up. False: there is no such task. */
export async function retryTask(db: Queryable, { kind, subject }: { kind: string; subject: string }): Promise<boolean> {
  const { rowCount } = await db.query(
    `with due as (
       update tasks set due_at = clock_timestamp(), problem = null, waiting_since = null
       where kind = $1 and subject = $2 and due_at = 'infinity' and problem is not null returning 1
     )
     select pg_notify('${channels.taskDue}', '') from due`,
    [kind, subject],
  );
  return rowCount === 1;
}

/** A second request before it starts has no effect. Triggers ask by `ask_task` too. */
export async function askTask(
  db: Queryable,
  kind: string,
  subject: string,
  words: string | null = null,
): Promise<void> {
  await db.query("select ask_task($1, $2, $3)", [kind, subject, words]);
}
