import { openContextCredential } from "../accounts/context-credential.ts";
import { type ContextRepository, contextRepositoryColumns } from "../accounts/context-repository.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { AutomationDeps } from "../automations/automations.ts";
import type { PushDeps } from "../automations/look-at-pushes.ts";
import type { Pool } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import type { ForgeDeps } from "../forge/registry.ts";
import { createJobRules } from "../http/create-job-rules.ts";
import { contextRemoteOf } from "../installation/context-remote.ts";
import { createAnnounceDue } from "../jobs/announce-due.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Git } from "../tree/git.ts";
import { readPullRequestState } from "./pull-request-state.ts";

/** What automations need, of the parts that a server has. */
export function composeAutomations(parts: {
  pool: Pool;
  log: Logger;
  defaultModel: string;
  metrics: Metrics;
  forges: ForgeDeps;
  sealer: Sealer;
  git: Git;
}): AutomationDeps & PushDeps {
  const { pool, log, defaultModel, metrics, forges, sealer, git } = parts;
  return {
    pool,
    log,
    defaultModel,
    announceDue: createAnnounceDue({ db: pool, log }),
    createJobRules,
    pullRequestState: (projectId, number) => readPullRequestState({ pool, forges, log }, projectId, number),
    onSettled: (state) => metrics.automationRuns.inc({ outcome: state }),
    git,
    async remoteOf(repositoryId, signal) {
      const { rows } = await pool.query<ContextRepository>(
        `select ${contextRepositoryColumns} from context_repositories where id = $1`,
        [repositoryId],
      );
      if (!rows[0]) throw new AppError("not_found", { publicMessage: "The context repository was taken away." });
      const credential = await openContextCredential({ db: pool, sealer }, repositoryId);
      return contextRemoteOf(forges, { ...rows[0], credential }, signal);
    },
  };
}
