/** What Emend deletes by itself: the age in days is set by the environment, and an owner's value in the dashboard wins. */
export const retention = {
  /** Finished jobs leave the list. */
  archiveAfterDays: { variable: "EMEND_ARCHIVE_AFTER_DAYS", least: 1, usual: null },
  /** Ended jobs, with all that belongs to them. */
  deleteAfterDays: { variable: "EMEND_DELETE_AFTER_DAYS", least: 7, usual: null },
  /** What a run needs to resume, uploads, and pictures of pages. Counted from the end of the job. */
  deleteContentsAfterDays: { variable: "EMEND_DELETE_CONTENTS_AFTER_DAYS", least: 1, usual: 7 },
  /** Webhook deliveries, runs of automations without a job, tasks that were given up. */
  deleteHistoryAfterDays: { variable: "EMEND_DELETE_HISTORY_AFTER_DAYS", least: 1, usual: 30 },
  /** Results of commit statuses with their logs, and logins. */
  deleteLogsAfterDays: { variable: "EMEND_DELETE_LOGS_AFTER_DAYS", least: 1, usual: 90 },
  /** Copies of repositories on workers that no job has used. */
  deleteCopiesAfterDays: { variable: "EMEND_DELETE_COPIES_AFTER_DAYS", least: 1, usual: null },
} as const satisfies Record<string, RetentionRule>;

interface RetentionRule {
  variable: string;
  least: number;
  /** If nobody sets it. Null: never. */
  usual: number | null;
}

export const retentionDaysMax = 36_500;
export type RetentionName = keyof typeof retention;
export const retentionNames = Object.keys(retention) as RetentionName[];
/** In days. Null: never. */
export type Retention = Readonly<Record<RetentionName, number | null>>;
export const usualRetention = Object.fromEntries(
  retentionNames.map((name) => [name, retention[name].usual]),
) as Retention;

/** An age, and where it comes from. */
export interface RetentionSetting {
  source: "dashboard" | "environment";
  days: number | null;
  environment: number | null;
}
