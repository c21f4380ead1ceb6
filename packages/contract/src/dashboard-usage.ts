/** What jobs did and used, of those created in the last days. */
export interface DashboardUsage {
  days: number;
  total: DashboardUsageFigures;
  /** Every day, oldest first, those without a job too. */
  byDay: readonly (DashboardUsageFigures & { day: string })[];
  /** Most jobs first. */
  byProject: readonly (DashboardUsageFigures & { projectId: string; project: string })[];
  byModel: readonly (DashboardUsageFigures & { model: string })[];
}

export interface DashboardUsageFigures {
  jobs: number;
  /** Ended without a failure, archived since or not. */
  completed: number;
  failed: number;
  pullRequests: number;
  merged: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  /** From creation to end, of those that ended and were not asked for more; null: none did. */
  medianMs: number | null;
}
