import { join } from "node:path";
import { type DiskCache, openDiskCache } from "@emend/site";
import { openContextCredential } from "../accounts/context-credential.ts";
import { getProject } from "../accounts/get-project.ts";
import { listContextRepositories } from "../accounts/list-context-repositories.ts";
import { readArchiveAfterDays } from "../accounts/settings.ts";
import { openModel } from "../agent/models/registry.ts";
import { findClosedChange } from "../automations/find-closed-change.ts";
import { fireAutomations } from "../automations/fire-automations.ts";
import { createAnswerMemory } from "../forge/polling.ts";
import { openForge } from "../forge/registry.ts";
import { listDueSiteChecks, listNewSites } from "../health/list-due-site-checks.ts";
import { contextRemoteOf } from "../installation/context-remote.ts";
import { createJobReader } from "../jobs/job-reader.ts";
import { measureMirrors } from "../metrics/measure-mirrors.ts";
import { measureModel } from "../metrics/measure-model.ts";
import { startDeliveries } from "../notify/start-deliveries.ts";
import { createWriteQueue } from "../publish/write-queue.ts";
import { createPageReader } from "../review/page-reader.ts";
import { createCrashPoint } from "../run/crash-point.ts";
import { createStages } from "../run/create-stages.ts";
import { sweepMirrors } from "../run/sweep-mirrors.ts";
import { startPullRequestWatch } from "../run/watch-pull-requests.ts";
import { startWorker, type Worker } from "../run/worker.ts";
import { startTasks } from "../tasks/start-tasks.ts";
import { traceModel } from "../tracing/trace-model.ts";
import { traceStages } from "../tracing/trace-stages.ts";
import type { Mirrors } from "../tree/mirror.ts";
import { createMirrors } from "../tree/mirrors.ts";
import { createPageHistory } from "../tree/page-history.ts";
import { createRecentSubjects } from "../tree/recent-subjects.ts";
import { checkSiteHealth } from "./check-site-health.ts";
import { createFollowUp } from "./follow-up.ts";
import { knownSecretsOf } from "./known-secrets-of.ts";
import type { Parts, Undo } from "./parts.ts";

/** Everything that carries jobs out and keeps house: mirrors, tasks, deliveries, runs, the watch on pull requests. */
export async function composeWork(parts: Parts, undo: Undo): Promise<void> {
  const { config, log, git, pool, listener, metrics, sealer, forges, automations } = parts;
  const mirrors = createMirrors({ dir: join(config.dataDir, "mirrors"), git, log });
  undo.push(() => mirrors.close());
  measureMirrors(metrics, join(config.dataDir, "mirrors"));
  const siteCache = await openDiskCache(join(config.dataDir, "site-cache"));
  undo.push(() => siteCache.flush());
  const tasks = startTasks(
    {
      pool,
      log,
      async sweepMirrors(signal) {
        await sweepMirrors({ pool, mirrors }, signal);
        await siteCache.flush();
      },
      fireAutomations: () => fireAutomations(automations),
      listNewSites: () => listNewSites(pool),
      listDueSiteChecks: () => listDueSiteChecks(pool),
      checkSite: (projectId, signal) =>
        checkSiteHealth(
          { pool, mirrors, siteCache, openForge: (project) => openForge(project, forges) },
          projectId,
          signal,
        ),
    },
    { archiveAfterDays: async () => (await readArchiveAfterDays(pool, config.archiveAfterDays)).days },
  );
  undo.push(() => tasks.stop());
  const deliveries = startDeliveries({
    pool,
    listener,
    log,
    sealer,
    allowPrivate: config.allowPrivateWebhooks,
  });
  undo.push(() => deliveries.stop());
  const worker = composeWorker(parts, { mirrors, siteCache });
  undo.push(() => worker.stop());
  const reader = createJobReader({ pool, listener });
  undo.push(async () => reader.close());
  const watch = startPullRequestWatch({
    pool,
    listener,
    log,
    answers: createAnswerMemory(),
    async forgeOf(projectId, polling) {
      const project = await getProject(pool, projectId);
      return project ? openForge(project, forges, polling) : null;
    },
    followUp: createFollowUp({ pool, reader, promptCodePointsMax: config.promptCodePointsMax }),
  });
  undo.push(() => watch.stop());
}

function composeWorker(parts: Parts, own: { mirrors: Mirrors; siteCache: DiskCache }): Worker {
  const { config, log, metrics, tracer, database, pool, listener, sealer, secret, forges, models } = parts;
  const { mirrors, siteCache } = own;
  const crashPoint = createCrashPoint(config.crashAt);
  const untraced = createStages({
    mirrors,
    writes: createWriteQueue(),
    siteCache,
    pageReader: createPageReader(),
    findProject: (id) => getProject(pool, id),
    openForge: (project) => openForge(project, forges),
    openModel: async (project, name) => {
      const fallbacks = project.settings.fallbackModels ?? config.modelFallbacks;
      const model = await openModel(models, { name, fallbacks, projectId: project.id });
      return traceModel(tracer, measureModel(metrics, model));
    },
    recentSubjects: createRecentSubjects({ git: forges.local.git, dir: join(config.dataDir, "mirrors") }),
    pageHistory: createPageHistory({ git: forges.local.git, dir: join(config.dataDir, "mirrors") }),
    async listContext(projectId) {
      return (await listContextRepositories(pool, projectId)).map((repository) => ({
        ...repository,
        async remote(signal) {
          const credential = await openContextCredential({ db: pool, sealer }, repository.id);
          return contextRemoteOf(forges, { ...repository, credential }, signal);
        },
      }));
    },
    knownSecrets: (projectId) => knownSecretsOf({ config, pool, sealer, secret }, projectId),
    findRefused: (job, diff) => findClosedChange(pool, job.id, diff),
    jobUrl: (job) => `${forges.local.publicUrl()}/app/jobs/${job.id}`,
    crashPoint,
    log,
  });
  return startWorker(
    {
      pool,
      databaseUrl: database.url,
      listener,
      log,
      stages: traceStages(tracer, untraced),
      crashPoint,
      onSettled: (outcome) => metrics.runs.inc({ outcome }),
    },
    { concurrency: config.concurrency },
  );
}
