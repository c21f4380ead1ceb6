import type { Logger } from "@emend/base/logger.ts";
import type { AutomationTrigger, DashboardAutomationRun } from "@emend/contract";
import type { Project } from "../accounts/projects/projects.ts";
import type { Pool } from "../db/pool.ts";
import type { AnnounceDue } from "../jobs/announce.ts";
import type { NewJobRules } from "../jobs/create-job.ts";
import type { RecordedPullRequest } from "../jobs/pull-requests.ts";

/** What automations need from the server. */
export interface AutomationDeps {
  pool: Pool;
  log: Logger;
  /** The model of projects that name none. */
  defaultModel: string;
  announceDue: AnnounceDue;
  newJobRules(project: Project, model: string): NewJobRules;
  /** The pull request's current state on its forge. Null: the stored state counts. */
  pullRequestState(projectId: string, number: number): Promise<RecordedPullRequest["state"] | null>;
  onSettled?(state: DashboardAutomationRun["state"]): void;
  /** Only where secrets may be shown: how to set up the forge's webhook. */
  hookOf?(projectId: string, forge: string): Promise<ForgeHook>;
  /** As above, for the webhook that starts an automation. */
  webhookOf?(automationId: string): Promise<ForgeHook>;
}

/** Where a forge sends its webhooks. Null if there is none to set up. */
export interface ForgeHook {
  url: string;
  secret: string;
}

/**
 * An automation creates jobs automatically. An event (a time, a push, a person) becomes one run. A waiting run becomes
 * a job, a message to the job whose pull request is still open, or a reason why not.
 */
export interface Automation {
  id: string;
  projectId: string;
  name: string;
  trigger: Trigger;
  /** For a push trigger. Null if the repository was removed. */
  repositoryId: string | null;
  /** A template. */
  prompt: string;
  /** Null: the project's. */
  model: string | null;
  /** Why it cannot run, for people; or null. */
  problem: string | null;
  pausedAt: Date | null;
  /** When it fires or polls next. Null: only by hand. */
  dueAt: Date | null;
  /** The last job that it created. */
  jobId: string | null;
  createdBy: string;
  createdAt: Date;
}

export type Trigger = AutomationTrigger;

export const pullEvents = ["opened", "updated", "merged"] as const;
export type PullEvent = (typeof pullEvents)[number];

/** What a trigger calls the docs' own repository; no context repository can have this name. */
export const ownRepository = ".";

export interface AutomationRun {
  id: string;
  automationId: string;
  /** Identifies the event: equal for the same event. */
  event: string;
  /** Waiting, or its result. */
  state: DashboardAutomationRun["state"];
  /** The result, for people. */
  words: string;
  jobId: string | null;
  createdAt: Date;
  settledAt: Date | null;
}

export interface WaitingRun {
  id: string;
  values: Values;
  byHand: boolean;
}

/** A push trigger whose repository was removed: it would never fire. */
export const isOrphaned = `(trigger ->> 'kind' in ('push', 'pull_request') and repository_id is null
  and trigger ->> 'repository' <> '${ownRepository}')`;

export const automationColumns = `id, project_id as "projectId", name, trigger, repository_id as "repositoryId", prompt,
  model, paused_at as "pausedAt", due_at as "dueAt", job_id as "jobId", created_by as "createdBy",
  created_at as "createdAt", case when ${isOrphaned} then 'Its context repository ' || (trigger ->> 'repository') ||
  ' was taken away: nothing starts it. Remove it, or add it anew for another repository.' end as problem`;

export const runColumns = `id, automation_id as "automationId", event, state, words, job_id as "jobId",
  created_at as "createdAt", settled_at as "settledAt"`;

/** The variables of a template. */
export const variables = [
  "commits",
  "changed_files",
  "tag",
  "date",
  "repository",
  "pull_request",
  "title",
  "description",
  "diff",
  "issues",
  "event",
] as const;
export type Variable = (typeof variables)[number];

/** Lists have one entry per commit or file, oldest first, so that events can be merged. */
export interface Values {
  commits: readonly string[];
  changedFiles: readonly string[];
  tag: string | null;
  /** In the trigger's time zone, `2026-11-15`. */
  date: string;
  repository: string;
  /** Of pull request triggers alone, one entry for each that started the run. */
  pulls?: readonly PullValues[];
  /** Of webhook triggers alone: the JSON of each. */
  events?: readonly string[];
}

export interface PullValues {
  url: string;
  /** `opened`, `updated` or `merged`. */
  event: string;
  title: string;
  description: string;
  diff: string;
  /** As its title, description and commits name them, with the text of those that the forge shows. */
  issues: readonly string[];
}

/** Merges several events: the lists of all, and the last value of the rest. */
export function mergeValues(first: Values, ...others: readonly Values[]): Values {
  return others.reduce(
    (merged, next) => ({
      commits: [...merged.commits, ...next.commits],
      changedFiles: [...new Set([...merged.changedFiles, ...next.changedFiles])],
      tag: next.tag ?? merged.tag,
      date: next.date,
      repository: next.repository,
      ...((merged.pulls ?? next.pulls) && { pulls: [...(merged.pulls ?? []), ...(next.pulls ?? [])] }),
      ...((merged.events ?? next.events) && { events: [...(merged.events ?? []), ...(next.events ?? [])] }),
    }),
    first,
  );
}

/** The date of an instant in a time zone. */
export function dayOf(at: Date, timezone: string): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short" }).format(at);
}
