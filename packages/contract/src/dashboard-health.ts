import type { DashboardSuggestion } from "./dashboard.ts";

/** What the checks found on a project's site, now and over time. */
export interface DashboardHealth {
  /** Oldest first. */
  checks: readonly DashboardSiteCheck[];
  /** Of the newest: worst first, a bounded part of them. */
  findings: readonly DashboardSiteFinding[];
  /** Why the last look failed; null: it did not. */
  problem: { at: string; words: string } | null;
  /** Jobs that would mend what was found. */
  fixes: readonly DashboardSuggestion[];
}

export interface DashboardSiteCheck {
  checkedAt: string;
  commit: string;
  branch: string;
  framework: string;
  pages: number;
  counts: readonly { check: string; severity: "error" | "warning" | "info"; count: number; fixable: number }[];
}

export interface DashboardSiteFinding {
  check: string;
  severity: "error" | "warning" | "info";
  path: string;
  line: number;
  message: string;
}
