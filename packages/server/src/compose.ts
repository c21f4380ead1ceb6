import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DiskCache, openDiskCache } from "@emend/site";
import { authenticateGitKey } from "./accounts/authenticate-key.ts";
import { openContextCredential } from "./accounts/context-credential.ts";
import { getProject } from "./accounts/get-project.ts";
import { hasLocalProjects } from "./accounts/has-local-projects.ts";
import { createKeyring } from "./accounts/keyring.ts";
import { listContextRepositories } from "./accounts/list-context-repositories.ts";
import { openModelKey } from "./accounts/model-keys.ts";
import { createPasswords } from "./accounts/passwords.ts";
import { openProjectCredential } from "./accounts/project-credential.ts";
import { refreshLocalUrls } from "./accounts/refresh-local-urls.ts";
import { createSealer, type Sealer } from "./accounts/secrets.ts";
import { createSessions } from "./accounts/sessions.ts";
import { readArchiveAfterDays } from "./accounts/settings.ts";
import { createSingleSignOn } from "./accounts/single-sign-on/single-sign-on.ts";
import { type Admin, createAdmin } from "./admin.ts";
import { type ModelsDeps, openModel } from "./agent/models/registry.ts";
import { readPrompt } from "./agent/rules/read-prompt.ts";
import { createAutomations } from "./automations/automations.ts";
import { hastenLooks } from "./automations/claim-look.ts";
import { findClosedChange } from "./automations/find-closed-change.ts";
import { fireAutomations } from "./automations/fire-automations.ts";
import { checkSiteHealth } from "./check-site-health.ts";
import { composeAutomations } from "./compose-automations.ts";
import type { Config } from "./config.ts";
import { contextRemoteOf } from "./context-remote.ts";
import { createProjectAdmin } from "./create-project-admin.ts";
import { accountsPlugin } from "./dashboard/accounts-plugin.ts";
import { dashboardPlugin } from "./dashboard/plugin.ts";
import { startListener } from "./db/listener.ts";
import { ensureSecret } from "./ensure-secret.ts";
import { createFollowUp } from "./follow-up.ts";
import { forgeHooksPlugin } from "./forge/hooks/plugin.ts";
import { assertLocalForgeUsable } from "./forge/local/assert-usable.ts";
import { localForgePlugin } from "./forge/local/plugin.ts";
import { createPullDesk } from "./forge/local/pull-desk.ts";
import { type ForgeDeps, openForge } from "./forge/registry.ts";
import { listDueSiteChecks } from "./health/list-due-site-checks.ts";
import { suggestFixes } from "./health/suggest-fixes.ts";
import { buildApp } from "./http/app.ts";
import { mcpPlugin } from "./http/mcp-plugin.ts";
import { hastenLook } from "./jobs/claim-look.ts";
import { createJobReader } from "./jobs/job-reader.ts";
import { createLogger, type Logger } from "./lib/logger.ts";
import { createFetch } from "./lib/network.ts";
import { forgeDirOf, gitNetwork, localGit } from "./local-git.ts";
import { measureFetch } from "./metrics/measure-fetch.ts";
import { measureMirrors } from "./metrics/measure-mirrors.ts";
import { measureModel } from "./metrics/measure-model.ts";
import { measureQueue } from "./metrics/measure-queue.ts";
import { measureRequests } from "./metrics/measure-requests.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { metricsPlugin, startMetricsServer } from "./metrics/metrics-server.ts";
import { startDeliveries } from "./notify/start-deliveries.ts";
import { type Database, openDatabase } from "./open-database.ts";
import { rememberUrl, urlOf } from "./public-url.ts";
import { createWriteQueue } from "./publish/write-queue.ts";
import { readPullRequestState } from "./pull-request-state.ts";
import { createCrashPoint } from "./run/crash-point.ts";
import { createStages } from "./run/create-stages.ts";
import { sweepMirrors } from "./run/sweep-mirrors.ts";
import { startPullRequestWatch } from "./run/watch-pull-requests.ts";
import { startWorker, type Worker } from "./run/worker.ts";
import { runnersOf } from "./runner-settings.ts";
import { askAutomations } from "./tasks/ask-automations.ts";
import { askSiteCheck } from "./tasks/ask-site-check.ts";
import { startTasks } from "./tasks/start-tasks.ts";
import { startTracing } from "./tracing/start-tracing.ts";
import { traceFetch } from "./tracing/trace-fetch.ts";
import { traceModel } from "./tracing/trace-model.ts";
import { traceRequests } from "./tracing/trace-requests.ts";
import { traceStages } from "./tracing/trace-stages.ts";
import type { Tracer } from "./tracing/tracing.ts";
import { assertGitVersion } from "./tree/git-version.ts";
import type { Mirrors } from "./tree/mirror.ts";
import { createMirrors } from "./tree/mirrors.ts";
import { createRecentSubjects } from "./tree/recent-subjects.ts";

/** The docs that `emend demo` works on, where they came along. */
const sampleDir = fileURLToPath(new URL("../../cli/sample/", import.meta.url));

export interface Server {
  /** Where clients reach it. */
  url: string;
  admin: Admin;
  /** Takes no new work, lets what is under way come to a good place, and ends; safe to call again. */
  stop(): Promise<void>;
  /** Settles once it has stopped, whoever asked for it. */
  finished: Promise<void>;
}

/** Builds every part once, in the order in which they need each other, and takes them down in reverse. */
export async function startServer(config: Config): Promise<Server> {
  const log = createLogger({ level: config.logLevel });
  const booting = new AbortController();
  const undo: (() => Promise<unknown>)[] = [];
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const stop = once(async () => {
    for (const step of undo.reverse()) await step().catch((err) => log.error({ err }, "a part did not stop cleanly"));
    finish();
  });

  try {
    const git = localGit(await gitNetwork(config));
    await assertGitVersion(git, booting.signal);
    const secret = await ensureSecret(config);
    const database = await openDatabase({
      config,
      log,
      connectionsMax: config.concurrency + 10,
      holder: "server",
      signal: booting.signal,
    });
    undo.push(() => database.close());
    if (await hasLocalProjects(database.pool)) assertLocalForgeUsable(config);
    const listener = await startListener({ url: database.url, log });
    undo.push(() => listener.close());

    let boundUrl = "";
    const publicUrl = () => config.publicUrl ?? boundUrl;
    const { pool } = database;
    const admin = createAdmin({ config, pool, secret, publicUrl: async () => publicUrl(), close: async () => {} });
    const local = { git, forgeDir: forgeDirOf(config), pool, publicUrl };
    const network = createFetch(config.network);
    undo.push(() => network.close());
    const metrics = createMetrics();
    measureQueue(metrics, pool);
    const tracer = config.tracing && (await startTracing(config.tracing));
    if (tracer) undo.push(() => tracer.close());
    const farFetch = traceFetch(tracer, measureFetch(metrics, network.fetch));
    const sealer = createSealer(secret);
    const forges: ForgeDeps = {
      local,
      fetch: farFetch,
      githubTokens: new Map(),
      credentialOf: (projectId) => openProjectCredential({ db: pool, sealer }, projectId),
    };

    const models: ModelsDeps = {
      endpoints: config.modelEndpoints,
      prices: config.modelPrices,
      runners: runnersOf(config),
      fetch: farFetch as unknown as typeof globalThis.fetch,
      keyOf: (projectId, vendor) => openModelKey({ db: pool, sealer }, projectId, vendor),
    };

    const defaultModel = config.model;
    const automations = composeAutomations({ pool, log, defaultModel, metrics, forges, sealer, git });

    if (config.role !== "worker") {
      const keyring = createKeyring({ pool, listener, log });
      undo.push(() => keyring.close());
      const access = {
        authenticateKey: (bearer: Parameters<typeof authenticateGitKey>[1]) => authenticateGitKey(keyring, bearer),
        sessions: createSessions({ pool, publicUrl }),
      };
      const serving = new AbortController();
      const assetsDir = new URL("../../dashboard/dist/", import.meta.url);
      const isBuilt = existsSync(new URL("index.html", assetsDir));
      const dashboardUrl = () => (isBuilt ? `${publicUrl()}/app` : null);
      const pullRequestState = (projectId: string, number: number) =>
        readPullRequestState({ pool, forges, log }, projectId, number);
      const app = buildApp({
        pool,
        listener,
        keyring,
        log,
        publicUrl,
        trustProxy: config.trustProxy,
        promptCodePointsMax: config.promptCodePointsMax,
        defaultModel: config.model,
        pullRequestState,
        plugins: [
          localForgePlugin({ ...local, ...access, log, signal: serving.signal, dashboardUrl }),
          mcpPlugin({ keyring }),
          forgeHooksPlugin({
            secret,
            noticed: (input) => hastenLook(pool, input),
            async pushed(projectId) {
              const looks = await hastenLooks(pool, projectId);
              if (looks > 0) await askAutomations(pool);
              return looks > 0;
            },
          }),
          accountsPlugin({
            pool,
            sessions: access.sessions,
            passwords: createPasswords(),
            singleSignOn:
              config.singleSignOn && createSingleSignOn({ fetch: network.fetch, sealer }, config.singleSignOn),
            log,
            publicUrl,
            archiveAfterDays: config.archiveAfterDays,
            addSample: (by) => admin.addProject({ name: "Sample docs", forge: "local", repo: sampleDir }, by),
          }),
          dashboardPlugin({
            pool,
            listener,
            sessions: access.sessions,
            log,
            publicUrl,
            defaultModel: config.model,
            promptCodePointsMax: config.promptCodePointsMax,
            projectAdmin: createProjectAdmin({
              admin,
              pool,
              sealer,
              allowPrivateWebhooks: config.allowPrivateWebhooks,
            }),
            automations: createAutomations(automations),
            pullRequestState,
            pulls: createPullDesk({ ...local, signal: serving.signal }),
            readPrompt,
            suggestions: (projectId) => suggestFixes({ db: pool, defaultModel: config.model }, projectId),
            askSiteCheck: (projectId) => askSiteCheck(pool, projectId),
            assetsDir,
          }),
        ],
      });
      if (config.metricsToken !== null) app.register(metricsPlugin({ metrics, token: config.metricsToken }));
      const stopMeasuring = measureRequests({ metrics, log }, app.server);
      undo.push(async () => stopMeasuring());
      if (tracer) {
        const stopTracing = traceRequests(tracer, app.server);
        undo.push(async () => stopTracing());
      }
      await app.listen({ host: config.host, port: config.port });
      undo.push(() => {
        serving.abort();
        return app.close();
      });
      const address = app.server.address();
      boundUrl = urlOf(config.host, typeof address === "object" && address ? address.port : config.port);
      await rememberUrl(config.dataDir, publicUrl());
      await refreshLocalUrls(pool, publicUrl());
    }
    if (config.role !== "api") {
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
      const worker = composeWorker({
        config,
        log,
        metrics,
        tracer,
        database,
        listener,
        mirrors,
        siteCache,
        sealer,
        forges,
        models,
      });
      undo.push(() => worker.stop());
      const reader = createJobReader({ pool, listener });
      undo.push(async () => reader.close());
      const watch = startPullRequestWatch({
        pool,
        log,
        async forgeOf(projectId) {
          const project = await getProject(pool, projectId);
          return project ? openForge(project, forges) : null;
        },
        followUp: createFollowUp({ pool, reader }),
      });
      undo.push(() => watch.stop());
    }
    if (config.metricsPort !== null) {
      const server = await startMetricsServer(
        { metrics, token: config.metricsToken },
        { host: config.host, port: config.metricsPort },
      );
      undo.push(() => server.close());
    }
    return { url: publicUrl(), admin, stop, finished };
  } catch (error) {
    await stop();
    throw error;
  }
}

function composeWorker(parts: {
  config: Config;
  log: Logger;
  metrics: Metrics;
  tracer: Tracer | null;
  database: Database;
  listener: Awaited<ReturnType<typeof startListener>>;
  mirrors: Mirrors;
  siteCache: DiskCache;
  sealer: Sealer;
  forges: ForgeDeps;
  models: ModelsDeps;
}): Worker {
  const { config, log, metrics, tracer, database, listener, mirrors, siteCache, sealer, forges, models } = parts;
  const { pool } = database;
  const crashPoint = createCrashPoint(config.crashAt);
  const untraced = createStages({
    mirrors,
    writes: createWriteQueue(),
    siteCache,
    findProject: (id) => getProject(pool, id),
    openForge: (project) => openForge(project, forges),
    openModel: async (project, name) => {
      const fallbacks = project.settings.fallbackModels ?? config.modelFallbacks;
      const model = await openModel(models, { name, fallbacks, projectId: project.id });
      return traceModel(tracer, measureModel(metrics, model));
    },
    recentSubjects: createRecentSubjects({ git: forges.local.git, dir: join(config.dataDir, "mirrors") }),
    async listContext(projectId) {
      return (await listContextRepositories(pool, projectId)).map((repository) => ({
        ...repository,
        async remote(signal) {
          const credential = await openContextCredential({ db: pool, sealer }, repository.id);
          return contextRemoteOf(forges, { ...repository, credential }, signal);
        },
      }));
    },
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

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work();
    return running;
  };
}
