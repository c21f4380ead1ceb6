/** A look at the whole site of a project's base branch: what people see of a site's health, and how it changes. */
export interface SiteCheck {
  checkedAt: Date;
  commit: string;
  branch: string;
  framework: string;
  pages: number;
  counts: readonly CheckCount[];
}

export interface CheckCount {
  check: string;
  severity: "error" | "warning" | "info";
  count: number;
  /** How many of them have a fix that is certain. */
  fixable: number;
}

export interface SiteFinding {
  check: string;
  severity: "error" | "warning" | "info";
  path: string;
  line: number;
  message: string;
}

export interface SiteHealth {
  /** Oldest first. */
  checks: readonly SiteCheck[];
  /** Of the newest: worst first, a bounded part of them. */
  findings: readonly SiteFinding[];
  /** Why the last look failed; null: it did not. */
  problem: { at: Date; words: string } | null;
}
