import { createWakeUp } from "@emend/base/locks.ts";
import type { RetentionName } from "@emend/contract";
import type { Pool, Queryable } from "../db/pool.ts";
import {
  archiveByRetention,
  deleteByRetention,
  dropAutomationRuns,
  dropChatMessages,
  dropDeliveries,
  dropExpiredSessions,
  dropGateStatuses,
  dropGivenUpTasks,
  dropIdempotencyKeys,
  dropOldLogins,
  dropPagePictures,
  dropQuotaUses,
  dropRunContents,
  dropUploads,
} from "./housekeeping.ts";
import { askTask, startTaskQueue, type TaskKind, type TaskQueueDeps } from "./task-queue.ts";

export interface TasksDeps extends TaskQueueDeps {
  /** Maintenance of this node's own folders, on every node. */
  sweepMirrors(signal: AbortSignal): Promise<void>;
  /** Creates jobs for due automations. Returns how many were looked at. */
  fireAutomations(): Promise<number>;
  /** Stores the usage totals of past days. Returns how many days. */
  rollUsageUp(): Promise<number>;
  /** Sends webhooks about monthly budgets that are nearly or fully used. Returns how many. */
  warnOfBudgets(): Promise<number>;
  /** The projects whose sites were never checked. */
  listNewSites(): Promise<readonly string[]>;
  /** The projects whose sites are due for a check. */
  listDueSiteChecks(): Promise<readonly string[]>;
  /** Checks a project's whole site and stores the findings. */
  checkSite(projectId: string, signal: AbortSignal): Promise<void>;
  /** The projects whose pull requests are to be looked at again. */
  listDueGates(): Promise<readonly string[]>;
  /** Looks at the pull requests of a project's repositories and says on each what was found. */
  pollGate(projectId: string, signal: AbortSignal): Promise<void>;
  /** Looks at an issue that may ask for a job: `<project>/<number>`. */
  hearIssue(subject: string, signal: AbortSignal): Promise<void>;
  /** Posts or edits the answer to a request on an issue. */
  answerIssue(requestId: string, signal: AbortSignal): Promise<void>;
  sendJobEmail(id: string): Promise<void>;
  /** Handles what was said in a thread of a chat: `<chat>/<channel>/<thread>`. */
  hearChat(subject: string, signal: AbortSignal): Promise<void>;
  /** Makes a thread show its job as it is now. */
  showChat(threadId: string, signal: AbortSignal): Promise<void>;
  /** Sets labels and reviewers of a job's pull request. */
  setDetails(jobId: string, signal: AbortSignal): Promise<void>;
  /** Asks those who wrote the code that a job cites for their review. */
  askAuthors(jobId: string, signal: AbortSignal): Promise<void>;
  /** Answers a comment on a job's pull request. */
  answerComment(answer: CommentAnswer, signal: AbortSignal): Promise<void>;
  /** Says on the pull request what a message from there led to. */
  answerMessage(message: { jobId: string; number: number }, signal: AbortSignal): Promise<void>;
  /** Checks what a project's jobs need, for somebody who waits for the answer. */
  diagnoseProject(asked: AskedDiagnosis, signal: AbortSignal): Promise<void>;
  /** `id`: of the answer. */
  tryServices(id: string): Promise<void>;
  /** The projects whose claims are to be looked at. */
  listDueClaims(): Promise<readonly string[]>;
  /** Holds a project's claims to the newest commits of what they cite. */
  pollClaims(projectId: string, signal: AbortSignal): Promise<void>;
  learnFromReviews(projectId: string, signal: AbortSignal): Promise<void>;
}

interface TasksOptions {
  /** In days. Null: never deleted. Read each time, because people change it. */
  ageOf(name: RetentionName): Promise<number | null>;
  sweepMirrorsEveryMs?: number;
  pollEveryMs?: number;
}

export interface Tasks {
  stop(): Promise<void>;
}

const hourMs = 3_600_000;

/** Cron and housekeeping, once across all nodes; and the sweeps of this node's folders. */
export function startTasks(deps: TasksDeps, options: TasksOptions): Tasks {
  const queue = startTaskQueue(deps, { ...housekeeping(deps, options), ...looks(deps) }, options);
  const sweeping = new AbortController();
  const sweeper = sweepUntil(sweeping.signal);

  async function sweepUntil(signal: AbortSignal): Promise<void> {
    const wake = createWakeUp();
    signal.addEventListener("abort", () => wake.ring());
    while (!signal.aborted) {
      await deps.sweepMirrors(signal).catch((err) => {
        if (!signal.aborted) deps.log.warn({ err }, "sweep of mirrors failed, retrying");
      });
      if (!signal.aborted) await wake.wait(options.sweepMirrorsEveryMs ?? hourMs);
    }
  }

  return {
    async stop() {
      sweeping.abort();
      await Promise.all([queue.stop(), sweeper]);
    },
  };
}

function housekeeping(deps: TasksDeps, options: TasksOptions): Record<string, TaskKind> {
  const { pool, fireAutomations, rollUsageUp, warnOfBudgets } = deps;
  const ofAge =
    (name: RetentionName, drop: (db: Pool, afterDays: number) => Promise<number>) => async (): Promise<number> => {
      const days = await options.ageOf(name);
      return days === null ? 0 : drop(pool, days);
    };
  return {
    drop_idempotency_keys: { cron: "7 * * * *", work: () => dropIdempotencyKeys(pool) },
    drop_quota_uses: { cron: "17 * * * *", work: () => dropQuotaUses(pool) },
    drop_run_contents: { cron: "27 * * * *", work: ofAge("deleteContentsAfterDays", dropRunContents) },
    drop_page_pictures: { cron: "34 * * * *", work: ofAge("deleteContentsAfterDays", dropPagePictures) },
    drop_expired_sessions: { cron: "37 * * * *", work: () => dropExpiredSessions(pool) },
    [automationsTask]: { cron: "* * * * *", work: fireAutomations },
    warn_of_budgets: { cron: "* * * * *", work: warnOfBudgets },
    roll_usage_up: { cron: "* * * * *", work: rollUsageUp },
    drop_automation_runs: { cron: "2 * * * *", work: ofAge("deleteHistoryAfterDays", dropAutomationRuns) },
    drop_deliveries: { cron: "57 * * * *", work: ofAge("deleteHistoryAfterDays", dropDeliveries) },
    drop_given_up_tasks: { cron: "4 * * * *", work: ofAge("deleteHistoryAfterDays", dropGivenUpTasks) },
    drop_old_logins: { cron: "52 * * * *", work: ofAge("deleteLogsAfterDays", dropOldLogins) },
    drop_uploads: { cron: "32 * * * *", work: () => dropUploads(pool) },
    drop_chat_messages: { cron: "22 * * * *", work: () => dropChatMessages(pool) },
    drop_gate_statuses: { cron: "12 * * * *", work: ofAge("deleteLogsAfterDays", dropGateStatuses) },
    delete_by_retention: { cron: "42 * * * *", work: ofAge("deleteAfterDays", deleteByRetention) },
    archive_by_retention: { cron: "47 * * * *", work: ofAge("archiveAfterDays", archiveByRetention) },
  };
}

/** Each look is a task of its own: a large site, or a slow forge, must not hold up the others. */
function looks(deps: TasksDeps): Record<string, TaskKind> {
  async function askAll(kind: string, subjects: readonly string[]): Promise<number> {
    for (const subject of subjects) await askTask(deps.pool, kind, subject);
    return subjects.length;
  }
  return {
    look_at_due_claims: { cron: "* * * * *", work: async () => askAll(claimsTask, await deps.listDueClaims()) },
    [claimsTask]: { work: (projectId, signal) => deps.pollClaims(projectId, signal) },
    check_new_sites: { cron: "* * * * *", work: async () => askAll(siteCheckTask, await deps.listNewSites()) },
    [siteCheckTask]: { work: (projectId, signal) => deps.checkSite(projectId, signal) },
    check_sites: { cron: "*/10 * * * *", work: async () => askAll(siteCheckTask, await deps.listDueSiteChecks()) },
    // The trigger on jobs asks for it by this name.
    learn_from_reviews: { work: (projectId, signal) => deps.learnFromReviews(projectId, signal) },
    [gateTask]: { work: (projectId, signal) => deps.pollGate(projectId, signal) },
    [issueTask]: { work: (subject, signal) => deps.hearIssue(subject, signal) },
    [answerTask]: { work: (requestId, signal) => deps.answerIssue(requestId, signal) },
    // Functions of the database ask for both by these names.
    hear_chat: { work: (subject, signal) => deps.hearChat(subject, signal) },
    [showChatTask]: { work: (threadId, signal) => deps.showChat(threadId, signal) },
    // The trigger on jobs asks for it by this name.
    send_email: { work: (id) => deps.sendJobEmail(id) },
    // The trigger on jobs asks for it by this name.
    set_details: { work: (jobId, signal) => deps.setDetails(jobId, signal) },
    ask_authors: { work: (jobId, signal) => deps.askAuthors(jobId, signal) },
    [commentTask]: {
      work(subject, signal, words) {
        const [jobId = "", to = ""] = subject.split("/");
        return deps.answerComment({ jobId, to, words }, signal);
      },
    },
    [messageTask]: {
      work(subject, signal) {
        const [jobId = "", number = ""] = subject.split("/");
        return deps.answerMessage({ jobId, number: Number(number) }, signal);
      },
    },
    [diagnosisTask]: {
      work(subject, signal) {
        const [projectId = "", id = ""] = subject.split("/");
        return deps.diagnoseProject({ projectId, id }, signal);
      },
    },
    [servicesTask]: { work: (id) => deps.tryServices(id) },
    look_at_gates: { cron: "* * * * *", work: async () => askAll(gateTask, await deps.listDueGates()) },
  };
}

const automationsTask = "fire_automations";

/** Lets a worker look at automations now. Only a hint: they are polled every minute. */
export async function askAutomations(db: Queryable): Promise<void> {
  await askTask(db, automationsTask, "").catch(() => {});
}

const claimsTask = "look_at_claims";

/** A worker takes it within moments. */
export async function askClaimPoll(db: Queryable, projectId: string): Promise<void> {
  await askTask(db, claimsTask, projectId);
}

/** The local forge asks for it by this name when it merges a pull request. */
const siteCheckTask = "check_site";

/** A worker starts it within moments. */
export async function askSiteCheck(db: Queryable, projectId: string): Promise<void> {
  await askTask(db, siteCheckTask, projectId);
}

/** A check is due or running. */
export async function isSiteCheckAsked(db: Queryable, projectId: string): Promise<boolean> {
  const { rowCount } = await db.query("select from tasks where kind = $1 and subject = $2", [siteCheckTask, projectId]);
  return rowCount === 1;
}

/** The triggers of the local forge's pull requests ask for it by this name too. */
const gateTask = "look_at_gate";

/** A hint: pull requests are looked at every few minutes. */
export async function askGate(db: Queryable, projectId: string): Promise<void> {
  await askTask(db, gateTask, projectId);
}

const issueTask = "hear_issue";

/** A worker looks at the issue within moments. */
export async function askIssue(
  db: Queryable,
  { projectId, number }: { projectId: string; number: number },
): Promise<void> {
  await askTask(db, issueTask, `${projectId}/${number}`);
}

/** The trigger on jobs asks for it by this name too. */
const answerTask = "answer_issue";

export async function askAnswer(db: Queryable, requestId: string): Promise<void> {
  await askTask(db, answerTask, requestId);
}

const showChatTask = "show_chat";

export async function askShowChat(db: Queryable, threadId: string): Promise<void> {
  await askTask(db, showChatTask, threadId);
}

const commentTask = "answer_comment";
/** The trigger on jobs asks for it. */
const messageTask = "answer_message";

/** An answer to a comment on a job's pull request. `to` names the comment. */
interface CommentAnswer {
  jobId: string;
  to: string;
  words: string;
}

export async function askCommentAnswer(db: Queryable, { jobId, to, words }: CommentAnswer): Promise<void> {
  await askTask(db, commentTask, `${jobId}/${to}`, words);
}

const diagnosisTask = "diagnose_project";

/** `id`: of the answer. */
interface AskedDiagnosis {
  projectId: string;
  id: string;
}

export async function askDiagnosis(db: Queryable, { projectId, id }: AskedDiagnosis): Promise<void> {
  await askTask(db, diagnosisTask, `${projectId}/${id}`);
}

const servicesTask = "try_services";

export async function askServiceTrials(db: Queryable, id: string): Promise<void> {
  await askTask(db, servicesTask, id);
}
