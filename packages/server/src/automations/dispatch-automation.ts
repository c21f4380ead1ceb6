import { hash, randomUUID } from "node:crypto";
import { assertNever } from "@emend/base/fault.ts";
import { allowedModels } from "../accounts/projects/project-settings.ts";
import { getProject } from "../accounts/projects/projects.ts";
import type { Client, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import type { BudgetRefusal } from "../jobs/budget.ts";
import { createJobWithoutKey } from "../jobs/create-job.ts";
import { acceptMessage, messageQuota } from "../jobs/message-job.ts";
import type { RecordedPullRequest } from "../jobs/pull-requests.ts";
import { redactPrompt } from "../jobs/redact-prompt.ts";
import {
  type Automation,
  type AutomationDeps,
  automationColumns,
  dayOf,
  mergeValues,
  type Values,
  type WaitingRun,
} from "./automation.ts";
import { renderTemplate } from "./template.ts";

type DecideDeps = Omit<AutomationDeps, "pool"> & { client: Client };

/** An automation's waiting runs, and what they ask for together. */
interface Waiting {
  automation: Automation;
  runs: readonly WaitingRun[];
  prompt: string;
  contentHash: Buffer;
}

/** Null: none waits. */
async function readWaiting(db: Queryable, id: string, lock: "" | "for no key update"): Promise<Waiting | null> {
  const { rows } = await db.query<Automation>(`select ${automationColumns} from automations where id = $1 ${lock}`, [
    id,
  ]);
  const [automation] = rows;
  const runs = automation ? await waitingRuns(db, id) : [];
  const [first, ...others] = runs;
  if (!automation || !first) return null;
  const values = mergeValues(first.values, ...others.map((run) => run.values));
  const contentHash = contentHashOf(automation.prompt, values);
  return { automation, runs, prompt: renderTemplate(automation.prompt, values), contentHash };
}

/** What an automation's waiting runs become together. */
async function decideRuns(deps: DecideDeps, waiting: Waiting, kept: string): Promise<DispatchResult> {
  const { automation, runs, prompt, contentHash } = waiting;
  const question = { prompt, kept, contentHash };
  const job = automation.jobId === null ? null : await readJobState(deps.client, automation.jobId);
  if (job?.status === "active") return waits(`Waiting for job ${job.id}, which is still running.`);
  if (job?.pullRequest?.state === "open") return continueJob(deps, automation, job, question);
  if (!runs.some((run) => run.byHand)) {
    const closed = await readClosedBefore(deps.client, automation.id, contentHash);
    if (closed !== null) {
      const words = `Skipped: the same change was proposed in ${closed} and closed unmerged. Run it manually to propose it again.`;
      return { state: "skipped", words, jobId: null, contentHash };
    }
  }
  return startJob(deps, automation, question);
}

/** A different date alone does not count as new content. */
function contentHashOf(template: string, values: Values): Buffer {
  return hash("sha256", renderTemplate(template, { ...values, date: "" }), "buffer");
}

function waits(words: string, retryInMs = 0): DispatchResult {
  return { state: "waiting", words, retryInMs };
}

const hourMs = 3_600_000;

/** Checked every hour, because somebody may raise the budget. */
function overBudget({ words, renewsInMs }: BudgetRefusal): DispatchResult {
  return waits(`${words} Emend starts this run when there is room.`, Math.min(renewsInMs, hourMs));
}

interface Question {
  prompt: string;
  /** Without credentials. */
  kept: string;
  contentHash: Buffer;
}

async function continueJob(
  deps: DecideDeps,
  automation: Automation,
  job: JobState,
  question: Question,
): Promise<DispatchResult> {
  const { id: jobId, projectId, pullRequest } = job;
  const { contentHash, kept } = question;
  const outcome = await acceptMessage(deps.client, messageQuota, {
    id: jobId,
    projectId,
    kept,
    createdBy: `automation/${automation.id}`,
  });
  switch (outcome.kind) {
    case "accepted": {
      const words = `Continued job ${jobId}, whose pull request ${pullRequest?.url} is open.`;
      return { state: "continued", words, jobId, contentHash };
    }
    case "limited":
      return waits("The project reached its message limit. Emend retries when there is room.", outcome.quota.freesInMs);
    case "over_budget":
      return overBudget(outcome.refusal);
    case "refused":
    case "unknown_job": {
      // Archived: nothing is added to it, and a second one would be a duplicate.
      const words = `Skipped: pull request ${pullRequest?.url} is still open, but its job does not accept messages.`;
      return { state: "skipped", words, jobId, contentHash };
    }
    default:
      return assertNever(outcome);
  }
}

async function startJob(deps: DecideDeps, automation: Automation, question: Question): Promise<DispatchResult> {
  const { prompt, kept, contentHash } = question;
  const project = await findProject(deps.client, automation);
  const models = allowedModels(project.settings, deps.defaultModel);
  const model = automation.model ?? models[0];
  if (!models.includes(model)) {
    const words = `Skipped: the project no longer allows the model ${model}.`;
    return { state: "skipped", words, jobId: null, contentHash };
  }
  const outcome = await createJobWithoutKey(
    { db: deps.client, announceDue: deps.announceDue },
    deps.newJobRules(project, model),
    {
      projectId: project.id,
      prompt,
      kept,
      baseRef: null,
      model,
      createdBy: `automation/${automation.id}`,
    },
  );
  switch (outcome.kind) {
    case "created":
      return { state: "started", words: `Started job ${outcome.jobId}.`, jobId: outcome.jobId, contentHash };
    case "limited":
      return waits("The project reached its job limit. Emend retries when there is room.", outcome.quota.freesInMs);
    case "over_budget":
      return overBudget(outcome.refusal);
    default:
      return assertNever(outcome);
  }
}

async function findProject(db: Queryable, automation: Automation) {
  const project = await getProject(db, automation.projectId);
  if (project) return project;
  throw new Error(`automation ${automation.id} outlived its project`);
}

/** The result of runs that waited together. */
type DispatchResult =
  | { state: "waiting"; words: string; retryInMs: number }
  | {
      state: "started" | "continued" | "skipped";
      words: string;
      jobId: string | null;
      contentHash: Buffer;
    };

/** The last run stands for all of them; the earlier ones say so. */
async function recordResult(
  db: Queryable,
  automation: Automation,
  runs: readonly WaitingRun[],
  result: DispatchResult,
): Promise<void> {
  const ids = runs.map((run) => run.id);
  if (result.state === "waiting") {
    await db.query(
      `update automation_runs set words = $2, try_at = clock_timestamp() + make_interval(secs => $3)
       where id = any ($1)`,
      [ids, result.words, result.retryInMs / 1000],
    );
    return;
  }
  const { state, words, jobId, contentHash } = result;
  await db.query(
    `update automation_runs set settled_at = clock_timestamp(), job_id = $3, content_hash = $4,
       state = case when id = $2 then $5 else 'merged' end,
       words = case when id = $2 then $6 else 'Taken together with a later event. ' || $6 end
     where id = any ($1)`,
    [ids, ids.at(-1), jobId, contentHash, state, words],
  );
  if (state === "started") {
    await db.query("update automations set job_id = $2 where id = $1", [automation.id, jobId]);
  }
}

/** A person requested a run. With a push trigger it repeats the last push. Returns the run's id. */
export async function recordByHand(db: Queryable, automation: Automation): Promise<string> {
  const { rows: known } = await db.query<{ now: Date; repository: string; last: Values | null }>(
    `select clock_timestamp() as now, repository_url as repository,
       (select values from automation_runs where automation_id = $1 and state <> 'skipped'
        order by created_at desc limit 1) as last
     from projects where id = $2`,
    [automation.id, automation.projectId],
  );
  const { now, repository, last } = known[0] as { now: Date; repository: string; last: Values | null };
  const { trigger } = automation;
  const date = dayOf(now, trigger.kind === "cron" ? trigger.timezone : "UTC");
  const values: Values = { commits: [], changedFiles: [], tag: null, repository, ...last, date };
  const { rows } = await db.query<{ id: string }>(
    `insert into automation_runs (automation_id, event, values, by_hand, words)
     values ($1, $2, $3, true, 'Waits for its turn.') returning id`,
    [automation.id, `by hand ${randomUUID()}`, values],
  );
  return (rows[0] as { id: string }).id;
}

interface JobState {
  id: string;
  projectId: string;
  status: "active" | "completed" | "archived" | "failed";
  pullRequest: RecordedPullRequest | null;
}

/** Locked until the transaction ends: nobody continues or archives it meanwhile. */
async function readJobState(db: Queryable, jobId: string): Promise<JobState | null> {
  const { rows } = await db.query<JobState>(
    `select id, project_id as "projectId", status, pull_request as "pullRequest" from jobs
     where id = $1 for no key update`,
    [jobId],
  );
  return rows[0] ?? null;
}

/** The last pull request for the same content, if people closed it unmerged; otherwise null. */
async function readClosedBefore(db: Queryable, automationId: string, contentHash: Buffer): Promise<string | null> {
  const { rows } = await db.query<{ state: string | null; url: string | null }>(
    `select pull_request ->> 'state' as state, pull_request ->> 'url' as url
     from automation_runs runs join jobs on jobs.id = runs.job_id
     where runs.automation_id = $1 and content_hash = $2 and runs.state in ('started', 'continued')
     order by settled_at desc limit 1`,
    [automationId, contentHash],
  );
  return rows[0]?.state === "closed" ? rows[0].url : null;
}

/** Dispatches every automation with a due run. A failure does not stop the others. Returns how many were tried. */
export async function dispatchWaiting(deps: AutomationDeps): Promise<number> {
  const { rows } = await deps.pool.query<{ id: string }>(
    `select distinct automation_id as id from automation_runs where state = 'waiting' and try_at <= clock_timestamp()`,
  );
  for (const { id } of rows) {
    await dispatchAutomation(deps, id).catch((error: unknown) => {
      deps.log.warn({ err: error, automationId: id }, "could not dispatch an automation, retrying");
    });
  }
  return rows.length;
}

/**
 * Turns all waiting runs of an automation into one job, one message, or a reason why not. Stored together, so that
 * after a crash an event is neither lost nor handled twice.
 */
export async function dispatchAutomation(deps: AutomationDeps, id: string): Promise<void> {
  await refreshPullRequest(deps, id);
  const seen = await readWaiting(deps.pool, id, "");
  if (!seen) return;
  // Before the transaction, which would hold its locks while the scanner works.
  const kept = await redactPrompt(seen.prompt);
  const due = new Set<string>();
  const result = await inTransaction(deps.pool, async (client) => {
    // Locked: if two nodes dispatch the same automation, the second finds nothing waiting.
    const waiting = await readWaiting(client, id, "for no key update");
    if (!waiting) return null;
    if (waiting.prompt !== seen.prompt) return "moved";
    const decided = await decideRuns(
      { ...deps, client, announceDue: (projectId) => due.add(projectId) },
      waiting,
      kept,
    );
    await recordResult(client, waiting.automation, waiting.runs, decided);
    return decided;
  });
  // Another event came meanwhile, or somebody edited the prompt.
  if (result === "moved") return dispatchAutomation(deps, id);
  for (const projectId of due) deps.announceDue(projectId);
  if (!result) return;
  const { state } = result;
  const jobId = state === "waiting" ? null : result.jobId;
  deps.log.info({ automationId: id, state, ...(jobId !== null && { jobId }) }, "automation dispatched");
  deps.onSettled?.(state);
}

/** Before the transaction: none is open while waiting for a forge. */
async function refreshPullRequest(deps: AutomationDeps, id: string): Promise<void> {
  const { rows } = await deps.pool.query<{ projectId: string; number: number }>(
    `select jobs.project_id as "projectId", (pull_request ->> 'number')::int as number
     from automations join jobs on jobs.id = job_id
     where automations.id = $1 and pull_request ->> 'state' = 'open' and status <> 'active'`,
    [id],
  );
  if (!rows[0]) return;
  const { projectId, number } = rows[0];
  const state = await deps.pullRequestState(projectId, number);
  if (state === null || state === "open") return;
  await deps.pool.query("select settle_pull_request($1, $2, $3)", [projectId, number, state]);
}

async function waitingRuns(client: Queryable, id: string): Promise<readonly WaitingRun[]> {
  const { rows } = await client.query<WaitingRun>(
    `select id, values, by_hand as "byHand" from automation_runs
     where automation_id = $1 and state = 'waiting' and try_at <= clock_timestamp() order by created_at, id`,
    [id],
  );
  return rows;
}
