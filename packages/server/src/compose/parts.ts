import { hostname } from "node:os";
import { join } from "node:path";
import { type ModelsDeps, usualPatience } from "@emend/agent";
import type { Logger } from "@emend/base/logger.ts";
import { createFetch } from "@emend/base/network.ts";
import { createAnswerMemory, type Forge, type PullRequest, startPolling } from "@emend/forges";
import { openDiskCache } from "@emend/site";
import { startTracing, traceFetch } from "@emend/tracing";
import { assertGitVersion, createMirrors, type Git } from "@emend/tree";
import { openModelKey } from "../accounts/keys/model-keys.ts";
import {
  type ContextRepository,
  contextRepositoryColumns,
  openContextCredential,
} from "../accounts/projects/context-repositories.ts";
import { getProject, hasLocalProjects, openProjectCredential } from "../accounts/projects/projects.ts";
import { createSealer, type Sealer } from "../accounts/secrets.ts";
import { createAdmin } from "../admin/admin.ts";
import type { AutomationDeps } from "../automations/automation.ts";
import type { PushDeps } from "../automations/poll-triggers.ts";
import type { Config } from "../config/config.ts";
import { createLateReads } from "../db/late-reads.ts";
import { channels, startListener } from "../db/listener.ts";
import { createPool, type Pool, type Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { assertLocalForgeUsable } from "../forge/local/repository.ts";
import { type ForgeDeps, openForge } from "../forge/open-forge.ts";
import { newJobRules } from "../http/parse-create-body.ts";
import { contextForgeOf, contextRemoteOf, createForgeReach } from "../installation/forge-reach.ts";
import { homeOf } from "../installation/home-workers.ts";
import { forgeDirOf, gitNetwork, localGit } from "../installation/local-git.ts";
import { startHeartbeat } from "../installation/nodes.ts";
import { ensureSecret, openDatabase, rethrowNaming } from "../installation/open-database.ts";
import { assertSecret } from "../installation/sealed-values.ts";
import { isTrustedOrigin } from "../installation/trusted-origins.ts";
import { createAnnounceDue } from "../jobs/announce.ts";
import { createDisk } from "../lib/disk.ts";
import { measureFetch, measureQueue } from "../metrics/measure.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import { awaitDatabase } from "./await-database.ts";

export type Undo = (() => Promise<unknown>)[];
export type Parts = Awaited<ReturnType<typeof composeParts>>;

/** What every role is built from, each part once, in the order of their dependencies. */
export async function composeParts(config: Config, log: Logger, undo: Undo, signal: AbortSignal) {
  const git = localGit(await gitNetwork(config));
  await assertGitVersion(git, signal);
  const secret = await ensureSecret(config);
  const listen = config.role === "worker" ? null : config;
  const database = await awaitDatabase({ log, signal, listen }, () =>
    openDatabase({ config, log, connectionsMax: config.concurrency + 10, holder: "server", signal }),
  );
  undo.push(() => database.close());
  await assertSecret(database.pool, secret, config);
  if (await hasLocalProjects(database.pool)) assertLocalForgeUsable(config);
  const listener = await awaitDatabase({ log, signal, listen }, () =>
    startListener({
      url: database.url,
      listenUrl: config.databaseListenUrl,
      // Only readers of jobs wait for their changes, and there are many.
      ...(config.role === "worker" && {
        channels: Object.values(channels).filter((name) => name !== channels.jobChanged),
      }),
      log,
      signal,
    }).catch(rethrowNaming(config.databaseListenUrl === null ? "EMEND_DATABASE_URL" : "EMEND_DATABASE_LISTEN_URL")),
  );
  undo.push(() => listener.close());
  const lateReads = openLateReads(config, { primary: database.pool, log }, undo);

  // A process that only answers requests writes hardly anything.
  const dirs = config.role === "api" ? [] : [config.dataDir, forgeDirOf(config)];
  const disk = createDisk({ dirs, reserveBytes: config.diskReserveBytes });
  const diskProblem = await disk.examine();
  if (diskProblem !== null) log.warn({ problem: diskProblem }, "no jobs are taken");
  const home = config.role === "api" ? undefined : homeOf(hostname(), config.dataDir);
  const heartbeat = await startHeartbeat({ pool: database.pool, log, problem: disk.problem }, config.role, home);
  undo.push(() => heartbeat.stop());

  const bound = { url: "" };
  const publicUrl = () => config.publicUrl ?? bound.url;
  const { pool } = database;
  const admin = createAdmin({ config, pool, secret, publicUrl: async () => publicUrl(), close: async () => {} });
  const local = { git, forgeDir: forgeDirOf(config), pool, publicUrl };
  const network = createFetch(config.network);
  undo.push(() => network.close());
  const metrics = createMetrics(config.role);
  measureQueue(metrics, pool);
  const tracer = config.tracing && (await startTracing(config.tracing, config.network));
  if (tracer) undo.push(() => tracer.close());
  const farFetch = traceFetch(tracer, measureFetch(metrics, network.fetch));
  const sealer = createSealer(secret);
  const reach = createForgeReach(config, { isTrusted: (origin) => isTrustedOrigin(pool, origin) });
  undo.push(() => reach.close());
  const judged = { ...reach, fetch: traceFetch(tracer, measureFetch(metrics, reach.fetch)) };
  const forges: ForgeDeps = {
    local,
    reach: judged,
    githubTokens: new Map(),
    credentialOf: (projectId) => openProjectCredential({ db: pool, sealer }, projectId),
  };

  const models: ModelsDeps = {
    endpoints: config.modelEndpoints,
    prices: config.modelPrices,
    patience: { ...usualPatience, silenceMsMax: config.modelSilenceMsMax },
    runners: config.runners,
    fetch: farFetch as unknown as typeof globalThis.fetch,
    keyOf: (projectId, vendor) => openModelKey({ db: pool, sealer }, projectId, vendor),
  };

  const defaultModel = config.model;
  const automations = composeAutomations({ pool, log, defaultModel, metrics, forges, sealer, git });

  // Nodes that only answer requests keep no repositories.
  const mirrors = createMirrors({ dir: join(config.dataDir, "mirrors"), git, log });
  undo.push(() => mirrors.close());
  const siteCache = await openDiskCache(join(config.dataDir, "site-cache"));
  undo.push(() => siteCache.flush());

  return {
    config,
    log,
    git,
    lateReads,
    disk,
    heartbeat,
    mirrors,
    siteCache,
    secret,
    database,
    pool,
    listener,
    /** Where the API listens, once it does. */
    bound,
    publicUrl,
    admin,
    local,
    network,
    metrics,
    tracer,
    sealer,
    forges,
    models,
    automations,
  };
}

/** Builds the dependencies of automations. */
function composeAutomations(parts: {
  pool: Pool;
  log: Logger;
  defaultModel: string;
  metrics: Metrics;
  forges: ForgeDeps;
  sealer: Sealer;
  git: Git;
}): AutomationDeps & PushDeps {
  const { pool, log, defaultModel, metrics, forges, sealer, git } = parts;
  const answers = createAnswerMemory();

  async function openOwn(projectId: string): Promise<Forge> {
    const project = await getProject(pool, projectId);
    if (!project) throw new AppError("not_found", { publicMessage: "The project was removed." });
    return openForge(project, forges, startPolling(answers, projectId));
  }

  async function findContext(repositoryId: string): Promise<ContextRepository> {
    const { rows } = await pool.query<ContextRepository>(
      `select ${contextRepositoryColumns} from context_repositories where id = $1`,
      [repositoryId],
    );
    if (rows[0]) return rows[0];
    throw new AppError("not_found", { publicMessage: "The context repository was taken away." });
  }

  async function openContext(repositoryId: string): Promise<Forge | null> {
    const repository = await findContext(repositoryId);
    const credential = await openContextCredential({ db: pool, sealer }, repositoryId);
    return contextForgeOf(forges, { ...repository, credential }, startPolling(answers, repositoryId));
  }

  return {
    pool,
    log,
    defaultModel,
    announceDue: createAnnounceDue({ db: pool, log }),
    newJobRules,
    pullRequestState: (projectId, number) => readPullRequestState({ pool, forges, log }, projectId, number),
    onSettled: (state) => metrics.automationRuns.inc({ outcome: state }),
    git,
    async remoteOf({ projectId, repositoryId }, signal) {
      if (repositoryId === null) return (await openOwn(projectId)).gitRemote(signal);
      const repository = await findContext(repositoryId);
      const credential = await openContextCredential({ db: pool, sealer }, repositoryId);
      return contextRemoteOf(forges, { ...repository, credential }, signal);
    },
    async pullsOf({ projectId, repositoryId }) {
      const forge = repositoryId === null ? await openOwn(projectId) : await openContext(repositoryId);
      if (!forge) return null;
      return {
        list: (signal) => forge.listOpenPullRequests(signal),
        commitsOf: (pull, signal) => forge.readPullRequestCommits(pull, signal),
        stateOf: async (number, signal) => (await forge.readPullRequest(number, signal))?.state ?? null,
        issueOf: async (number, signal) => (await forge.issues?.read(number, signal)) ?? null,
      };
    },
  };
}

function openLateReads(config: Config, deps: { primary: Pool; log: Logger }, undo: Undo): Queryable {
  if (config.databaseReadUrl === null) return deps.primary;
  const replica = createPool({ url: config.databaseReadUrl, connectionsMax: 10, log: deps.log, name: "emend replica" });
  undo.push(() => replica.end());
  return createLateReads({ ...deps, replica });
}

const askMsMax = 5_000;

/** A pull request's current state. Null if its forge does not answer in time: then the stored state counts. */
export async function readPullRequestState(
  deps: { pool: Pool; forges: ForgeDeps; log: Logger },
  projectId: string,
  number: number,
): Promise<PullRequest["state"] | null> {
  try {
    const project = await getProject(deps.pool, projectId);
    if (!project) return null;
    const forge = await openForge(project, deps.forges);
    return (await forge.readPullRequest(number, AbortSignal.timeout(askMsMax)))?.state ?? null;
  } catch (error) {
    deps.log.warn({ err: error, projectId }, "a pull request's state could not be read");
    return null;
  }
}
