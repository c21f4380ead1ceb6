import type { Project } from "../accounts/projects/projects.ts";
import type { Pool } from "../db/pool.ts";
import type { AnnounceDue } from "../jobs/announce-due.ts";
import type { CreateJobRules } from "../jobs/create-job.ts";
import type { RecordedPullRequest } from "../jobs/pull-requests.ts";
import type { Logger } from "../lib/logger.ts";
import type { Values } from "./values.ts";

/** What automations need of the server around them. */
export interface AutomationDeps {
  pool: Pool;
  log: Logger;
  /** The model of projects that name none. */
  defaultModel: string;
  announceDue: AnnounceDue;
  createJobRules(project: Project, model: string): CreateJobRules;
  /** How a pull request stands on its forge by now; null: what was stored counts. */
  pullRequestState(projectId: string, number: number): Promise<RecordedPullRequest["state"] | null>;
  onSettled?(state: RunState): void;
  /** Where secrets may be shown: what a forge needs to tell of pushes. */
  hookOf?(projectId: string, forge: string): Promise<ForgeHook>;
}

/** Where the forge of a push trigger's repository may send its webhooks; null: there is none to set up. */
export interface ForgeHook {
  url: string;
  secret: string;
}

/**
 * An automation asks for jobs by itself. An event (a time, a push, somebody's word) becomes a run, once; a run that
 * waits becomes a job, a message to the job whose pull request is still open, or a reason why not.
 */
export interface Automation {
  id: string;
  projectId: string;
  name: string;
  trigger: Trigger;
  /** Of a push trigger; null: it was taken away since. */
  repositoryId: string | null;
  /** A template. */
  prompt: string;
  /** Null: the project's. */
  model: string | null;
  /** Why it can do nothing by itself, for people; null: nothing hinders it. */
  problem: string | null;
  pausedAt: Date | null;
  /** When it fires, or looks, next; null: by hand alone. */
  dueAt: Date | null;
  /** The job that it made last. */
  jobId: string | null;
  createdBy: string;
  createdAt: Date;
}

export type Trigger =
  | { kind: "cron"; expression: string; timezone: string }
  | {
      kind: "push";
      /** The context repository's name. */
      repository: string;
      /** Globs; both empty: the branch that the context repository names, or its default one. */
      branches: readonly string[];
      tags: readonly string[];
      /** Globs of paths; no `include`: every path. One changed file that passes is enough. */
      include: readonly string[];
      exclude: readonly string[];
    }
  | { kind: "manual" };

/** How a run stands: it waits, or what came of it. */
type RunState = "waiting" | "started" | "continued" | "merged" | "skipped";

export interface AutomationRun {
  id: string;
  automationId: string;
  /** What made it, in a form that is the same for the same event. */
  event: string;
  state: RunState;
  /** What came of it, for people. */
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

/** A push trigger whose repository is gone watches nothing, and would say nothing either. */
export const isOrphaned = `(trigger ->> 'kind' = 'push' and repository_id is null)`;

export const automationColumns = `id, project_id as "projectId", name, trigger, repository_id as "repositoryId", prompt,
  model, paused_at as "pausedAt", due_at as "dueAt", job_id as "jobId", created_by as "createdBy",
  created_at as "createdAt", case when ${isOrphaned} then 'Its context repository ' || (trigger ->> 'repository') ||
  ' was taken away: it hears of no push. Remove it, or add it anew for another repository.' end as problem`;

export const runColumns = `id, automation_id as "automationId", event, state, words, job_id as "jobId",
  created_at as "createdAt", settled_at as "settledAt"`;
