import { Cron } from "croner";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import {
  type Automation,
  type AutomationDeps,
  automationColumns,
  dayOf,
  isOrphaned,
  type Trigger,
  type Values,
} from "./automation.ts";
import { dispatchWaiting } from "./dispatch-automation.ts";
import { type PushDeps, pollTriggers } from "./poll-triggers.ts";

interface DueRow {
  id: string;
  trigger: Extract<Trigger, { kind: "cron" }>;
  dueAt: Date;
  now: Date;
  repository: string;
}

const dueMax = 500;

/**
 * Turns every due schedule into a waiting run, by the database's clock. If several nodes see the same time, one
 * advances the automation. Times that passed while no node ran become one run. Returns how many.
 */
export async function fireDue(db: Queryable): Promise<number> {
  const { rows } = await db.query<DueRow>(
    `select automations.id, trigger, due_at as "dueAt", clock_timestamp() as now, repository_url as repository
     from automations join projects on projects.id = project_id
     where trigger ->> 'kind' = 'cron' and paused_at is null and due_at <= clock_timestamp()
     order by due_at limit $1`,
    [dueMax],
  );
  let fired = 0;
  for (const row of rows) fired += await fire(db, row);
  return fired;
}

async function fire(db: Queryable, row: DueRow): Promise<number> {
  const { id, trigger, dueAt, now, repository } = row;
  const date = dayOf(dueAt, trigger.timezone);
  const values: Values = { commits: [], changedFiles: [], tag: null, date, repository };
  const { rowCount } = await db.query(
    `with due as (
       update automations set due_at = $3 where id = $1 and due_at = $2 and paused_at is null returning id
     )
     insert into automation_runs (automation_id, event, values, words)
     select id, $4, $5, 'Waits for its turn.' from due
     on conflict (automation_id, event) do nothing`,
    [id, dueAt, nextDue(trigger, now), `cron ${dueAt.toISOString()}`, values],
  );
  return rowCount ?? 0;
}

/** Runs every minute: due events become runs, and waiting runs become jobs. Returns how many were tried. */
export async function fireAutomations(deps: AutomationDeps & PushDeps): Promise<number> {
  await fireDue(deps.pool);
  // Schedules do not wait for repositories, which may be slow.
  const timed = await dispatchWaiting(deps);
  await pollTriggers(deps);
  await tellOrphans(deps);
  return timed + (await dispatchWaiting(deps));
}

/** From now on, by the database's clock. */
export async function firstDue(db: Queryable, trigger: Trigger): Promise<Date | null> {
  if (trigger.kind === "manual" || trigger.kind === "webhook") return null;
  const { rows } = await db.query<{ now: Date }>("select clock_timestamp() as now");
  const now = (rows[0] as { now: Date }).now;
  // A push trigger polls immediately, to record what already exists.
  return trigger.kind === "cron" ? nextDue(trigger, now) : now;
}

const expressionLengthMax = 100;

/** The next time after an instant, in the time zone's local time. Refuses invalid schedules with a message. */
export function nextDue(trigger: { expression: string; timezone: string }, after: Date): Date {
  const { expression, timezone } = trigger;
  assertTimezone(timezone);
  const next = parse(expression, timezone).nextRun(after);
  if (next) return next;
  throw invalid(`The cron expression "${expression}" never matches.`);
}

function parse(expression: string, timezone: string): Cron {
  const fields = expression.trim().split(/\s+/).length;
  if (expression.length <= expressionLengthMax && fields === 5) {
    try {
      return new Cron(expression, { timezone, mode: "5-part", paused: true });
    } catch {
      // Reported below: the parser's message is for programmers.
    }
  }
  throw invalid(
    `"${expression}" is not a cron expression. Use minute, hour, day of month, month and day of week, for example "0 9 * * 1".`,
  );
}

function assertTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw invalid(`"${timezone}" is not a time zone. Use an IANA name, for example "Europe/Berlin".`);
  }
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

/** Reports push triggers without a repository in their history and the log, once a day. */
async function tellOrphans(deps: Pick<AutomationDeps, "pool" | "log">): Promise<void> {
  const { rows } = await deps.pool.query<Automation & { now: Date }>(
    `select ${automationColumns}, clock_timestamp() as now from automations where ${isOrphaned} and paused_at is null`,
  );
  for (const { id, projectId, problem, now } of rows) {
    const { rowCount } = await deps.pool.query(
      `insert into automation_runs (automation_id, event, values, state, words, settled_at)
       values ($1, $2, '{}', 'skipped', $3, clock_timestamp()) on conflict (automation_id, event) do nothing`,
      [id, `orphaned ${dayOf(now, "UTC")}`, problem],
    );
    if (rowCount === 1) deps.log.warn({ automationId: id, projectId }, "automation has lost its context repository");
  }
}
