/** What asks for jobs by itself. */
export interface DashboardAutomation {
  id: string;
  name: string;
  trigger: DashboardTrigger;
  /** Why it can do nothing by itself; null: nothing hinders it. */
  problem: string | null;
  /** A template. */
  prompt: string;
  /** Null: the project's. */
  model: string | null;
  pausedAt: string | null;
  /** When it fires, or looks, next; null: by hand alone. */
  dueAt: string | null;
  /** The job that it made last. */
  jobId: string | null;
  createdBy: string;
  createdAt: string;
}

export type DashboardTrigger =
  | { kind: "cron"; expression: string; timezone: string }
  | {
      kind: "push";
      /** The context repository's name. */
      repository: string;
      branches: readonly string[];
      tags: readonly string[];
      include: readonly string[];
      exclude: readonly string[];
    }
  | { kind: "manual" };

export interface DashboardAutomationRun {
  id: string;
  state: "waiting" | "started" | "continued" | "merged" | "skipped";
  /** What came of it, for people. */
  words: string;
  jobId: string | null;
  createdAt: string;
}
