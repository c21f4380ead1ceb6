import { join } from "node:path";
import { canSeePictures, type Model, openModel } from "@emend/agent";
import { authoritiesOf, isLoopback } from "@emend/base/network.ts";
import { type Builds, createBuilds } from "@emend/build";
import { type AnswerMemory, createAnswerMemory, startPolling } from "@emend/forges";
import { createWriteQueue, type WriteQueue, withReviewers } from "@emend/publish";
import { createPageReader } from "@emend/review";
import type { DiskCache } from "@emend/site";
import { traceAgent, traceModel, traceStages } from "@emend/tracing";
import {
  createCodeAuthors,
  createCommitReader,
  createPageHistory,
  createRecentStart,
  createRecentSubjects,
  createSiteHistory,
  type Mirrors,
  startBound,
} from "@emend/tree";
import { retentionDays } from "../accounts/installation-settings.ts";
import { listContextRepositories, openContextCredential } from "../accounts/projects/context-repositories.ts";
import { getProject, type Project } from "../accounts/projects/projects.ts";
import { answerDiagnosis } from "../admin/ask-worker.ts";
import { checkProject, type ProjectCheck } from "../admin/doctor-project.ts";
import { checkKnowledge } from "../admin/knowledge.ts";
import { tryProjectModels } from "../admin/try-project-models.ts";
import { tryServices } from "../admin/try-services.ts";
import { fireAutomations } from "../automations/fire-automations.ts";
import { findClosedChange } from "../automations/poll-triggers.ts";
import { findTouchingPull } from "../automations/pulls.ts";
import type { ThreadName } from "../chat/chat-store.ts";
import { type ChatDeps, hearChat } from "../chat/hear-chat.ts";
import { chatNamesOf, openChat, startChats } from "../chat/open-chats.ts";
import { showChat } from "../chat/show-chat.ts";
import { listDueClaims, pollClaims } from "../claims/poll-claims.ts";
import { rollUsageUp } from "../dashboard/read-usage.ts";
import { askReviewer } from "../forge/local/pull-reviews.ts";
import { repositoryOf, tidyRepository } from "../forge/local/repository.ts";
import { openForge } from "../forge/open-forge.ts";
import { listDueGates } from "../gate/gate-store.ts";
import { type GateDeps, pollGate } from "../gate/poll-gate.ts";
import { startDocsJob } from "../gate/start-docs-job.ts";
import { listDueSiteChecks, listNewSites } from "../health/site-checks.ts";
import { newJobRules } from "../http/parse-create-body.ts";
import { contextForgeOf, contextRemoteOf, createForgeReach } from "../installation/forge-reach.ts";
import { openProjectKnowledge } from "../installation/knowledge-reach.ts";
import { answerIssue, hearIssue, type IssueDeps } from "../issues/hear-issue.ts";
import { createAnnounceDue } from "../jobs/announce.ts";
import { spentBudget } from "../jobs/budget.ts";
import { listPictureLinks } from "../jobs/page-pictures.ts";
import { uploadsOfJob } from "../jobs/uploads/uploads.ts";
import { learnFromReviews } from "../learn/learn-from-reviews.ts";
import { measureDisk, measureMirrors, measureModel } from "../metrics/measure.ts";
import { sendJobEmail } from "../notify/email.ts";
import { startDeliveries } from "../notify/start-deliveries.ts";
import { warnOfBudgets } from "../notify/warn-of-budgets.ts";
import { createCrashPoint } from "../run/crash-points.ts";
import { createStages } from "../run/create-stages.ts";
import { createConflictFinder } from "../run/find-conflicts.ts";
import { answerComment, answerMessage, type OutboxDeps, setDetails } from "../run/pull-request-outbox.ts";
import { startPullRequestWatch } from "../run/watch-pull-requests.ts";
import { createTidying, startWorker, sweepMirrors, tidyMirrorOf, type Worker } from "../run/worker.ts";
import { askAnswer, askCommentAnswer, askShowChat, askSiteCheck, startTasks } from "../tasks/start-tasks.ts";
import { askAuthors } from "./ask-authors.ts";
import { checkSiteHealth } from "./check-site-health.ts";
import { createReader } from "./create-reader.ts";
import { createFollowUp } from "./follow-up.ts";
import { knownSecretsOf } from "./known-secrets.ts";
import { type Parts, readPullRequestState, type Undo } from "./parts.ts";
import { createPagesReader } from "./read-pages.ts";

/** Everything that runs jobs and maintenance: mirrors, tasks, deliveries, runs, polling of pull requests. */
export async function composeWork(parts: Parts, undo: Undo): Promise<void> {
  const { config, log, git, pool, listener, metrics, sealer, forges, automations } = parts;
  const { mirrors, siteCache } = parts;
  measureMirrors(metrics, join(config.dataDir, "mirrors"));
  measureDisk(metrics, parts.disk);
  const linkReach = createForgeReach({ network: config.network, allowPrivateForges: false });
  undo.push(() => linkReach.close());
  const builds = createBuilds({
    start: startBound,
    fetch: parts.network.fetch,
    config: config.builds,
    dir: join(config.dataDir, "builds"),
  });
  const answers = createAnswerMemory();
  const pageHistory = createPageHistory({ git, dir: join(config.dataDir, "mirrors") });
  const gate = composeGate(parts, { mirrors, siteCache, answers });
  const issues: IssueDeps = {
    pool,
    log,
    defaultModel: config.model,
    promptCodePointsMax: config.promptCodePointsMax,
    announceDue: createAnnounceDue({ db: pool, log }),
    publicUrl: parts.publicUrl,
    newJobRules,
    findProject: (id) => getProject(pool, id),
    openForge: (project) => openForge(project, forges),
    askAnswer: (requestId) => askAnswer(pool, requestId),
  };
  const writes = createWriteQueue();
  const crashPoint = createCrashPoint(config.crashAt);
  const chats: ChatDeps = {
    pool,
    // Those who answer requests hear of the change from the database.
    reader: { forget() {} },
    crashPoint,
    defaultModel: config.model,
    promptCodePointsMax: config.promptCodePointsMax,
    announceDue: createAnnounceDue({ db: pool, log }),
    publicUrl: parts.publicUrl,
    newJobRules,
    findProject: (id) => getProject(pool, id),
    pullRequestState: (projectId, number) => readPullRequestState({ pool, forges, log }, projectId, number),
    openChat: openChat(config, parts.network),
    askShow: (threadId) => askShowChat(pool, threadId),
  };
  const outbox: OutboxDeps = {
    pool,
    writes,
    crashPoint,
    async forgeOf(projectId, owners) {
      const project = await getProject(pool, projectId);
      if (!project) return null;
      return openForge(owners ? withReviewers(project, owners) : project, forges);
    },
  };
  const tasks = startTasks(
    {
      pool,
      listener,
      log,
      homes: parts.heartbeat,
      async sweepMirrors(signal) {
        const unusedDays = await retentionDays(pool, "deleteCopiesAfterDays", config.retention);
        await sweepMirrors({ pool, mirrors }, signal, unusedDays);
        await siteCache.flush();
      },
      fireAutomations: () => fireAutomations(automations),
      rollUsageUp: () => rollUsageUp(pool),
      warnOfBudgets: () => warnOfBudgets(pool),
      listNewSites: () => listNewSites(pool),
      listDueSiteChecks: () => listDueSiteChecks(pool),
      listDueClaims: () => listDueClaims(pool),
      learnFromReviews: (projectId, signal) =>
        learnFromReviews(
          {
            pool,
            log,
            mirrors,
            openForge: (project) => openForge(project, forges),
            jobUrl: (jobId) => `${forges.local.publicUrl()}/app/jobs/${jobId}`,
          },
          projectId,
          signal,
        ),
      pollClaims: (projectId, signal) =>
        pollClaims(
          {
            pool,
            mirrors,
            ownRemote: async (project, either) => (await openForge(project, forges)).gitRemote(either),
            contextRemote: (repositoryId, either) => automations.remoteOf({ projectId, repositoryId }, either),
            pageHistory,
            // What the pages name is compared with the new code.
            onMoved: (projectId) => askSiteCheck(pool, projectId),
          },
          projectId,
          signal,
        ),
      checkSite: (projectId, signal) =>
        checkSiteHealth(
          {
            pool,
            mirrors,
            siteCache,
            indexes: gate.indexes,
            linkFetch: linkReach.fetch,
            siteHistory: createSiteHistory({ git, dir: join(config.dataDir, "mirrors") }),
            pageHistory,
            recentStart: createRecentStart({ git, dir: join(config.dataDir, "mirrors") }),
            openForge: (project) => openForge(project, forges),
            contextRemote: (repositoryId, either) => automations.remoteOf({ projectId, repositoryId }, either),
            openReader: gate.openReader,
          },
          projectId,
          signal,
        ),
      listDueGates: () => listDueGates(pool),
      pollGate: (projectId, signal) => pollGate(gate, projectId, signal),
      hearIssue(subject, signal) {
        const [projectId = "", number = ""] = subject.split("/");
        return hearIssue(issues, { projectId, number: Number(number) }, signal);
      },
      sendJobEmail: (id) => sendJobEmail({ pool, log, smtp: config.smtp, publicUrl: parts.publicUrl }, id),
      answerIssue: (requestId, signal) => answerIssue(issues, requestId, signal),
      async diagnoseProject({ projectId, id }, signal) {
        const tryModels = (project: Project) => tryProjectModels({ config, db: pool, sealer }, project);
        const tryKnowledge = (projectId: string) => checkKnowledge({ config, pool, sealer }, projectId);
        const tryBuild = (project: Project, either: AbortSignal) => tryBuildOf(parts, builds, project, either);
        const publicUrl = parts.publicUrl();
        const look = { db: pool, forges, git, secret: parts.secret, publicUrl, tryModels, tryKnowledge, tryBuild };
        await answerDiagnosis(pool, id, { checks: await checkProject(look, projectId, signal) });
      },
      tryServices: async (id) => answerDiagnosis(pool, id, await tryServices(config)),
      hearChat(subject, signal) {
        const [chat, channel = "", thread = ""] = subject.split("/");
        return hearChat(chats, { chat: chat as ThreadName["chat"], channel, thread }, signal);
      },
      showChat: (threadId, signal) => showChat(chats, threadId, signal),
      setDetails: (jobId, signal) => setDetails(outbox, jobId, signal),
      askAuthors: (jobId, signal) =>
        askAuthors(
          {
            pool,
            writes,
            codeAuthors: createCodeAuthors({ git, dir: join(config.dataDir, "mirrors") }),
            remoteOf: automations.remoteOf,
            openForge: (project) => openForge(project, forges),
            askMember: (pull, email) => askReviewer(pool, pull, email, { isOnce: true }),
          },
          jobId,
          signal,
        ),
      answerComment: (answer, signal) => answerComment(outbox, answer, signal),
      answerMessage: (message, signal) => answerMessage(outbox, message, signal),
    },
    {
      ageOf: (name) => retentionDays(pool, name, config.retention),
    },
  );
  undo.push(() => tasks.stop());
  const deliveries = startDeliveries({
    pool,
    listener,
    log,
    sealer,
    publicUrl: parts.publicUrl,
    allowPrivate: config.allowPrivateWebhooks,
    ca: authoritiesOf(config.network),
  });
  undo.push(() => deliveries.stop());
  const tidying = createTidying({
    log,
    async tidy(projectId, signal) {
      await tidyMirrorOf({ pool, mirrors }, projectId, signal);
      await tidyRepository(repositoryOf(forges.local, projectId), signal);
    },
  });
  undo.push(() => tidying.stop());
  const worker = composeWorker(parts, { mirrors, siteCache, writes, builds, crashPoint, onEnded: tidying.settled });
  undo.push(() => worker.stop());
  if (chatNamesOf(config).length > 0) {
    const onStored = () => crashPoint("after-chat-stored");
    const listening = await startChats({ pool, log, open: chats.openChat, onStored }, config);
    undo.push(() => listening.stop());
  }
  const watch = startPullRequestWatch({
    pool,
    listener,
    log,
    answers,
    async forgeOf(projectId, polling) {
      const project = await getProject(pool, projectId);
      return project ? openForge(project, forges, polling) : null;
    },
    // The site is another one now.
    onMerged: (projectId) => askSiteCheck(pool, projectId),
    askAnswer: (answer) => askCommentAnswer(pool, answer),
    findConflicts: createConflictFinder({ mirrors }),
    followUp: createFollowUp({
      pool,
      promptCodePointsMax: config.promptCodePointsMax,
      listPages: createPagesReader({ pool, mirrors }).listPages,
    }),
    crashPoint,
  });
  undo.push(() => watch.stop());
}

/** What a look at pull requests needs, each with answers that earlier looks remember. */
function composeGate(
  parts: Parts,
  { answers, ...own }: { mirrors: Mirrors; siteCache: DiskCache; answers: AnswerMemory },
): GateDeps {
  const { config, pool, log, sealer, forges, publicUrl } = parts;
  const announceDue = createAnnounceDue({ db: pool, log });
  const openModel = modelOpener(parts);
  return {
    ...own,
    pool,
    log,
    publicUrl,
    indexes: new Map(),
    startDocsJob: (input) => startDocsJob({ pool, defaultModel: config.model, announceDue, newJobRules }, input),
    findProject: (id) => getProject(pool, id),
    listContext: (projectId) => listContextRepositories(pool, projectId),
    contextRemote: (repositoryId, projectId, signal) => parts.automations.remoteOf({ projectId, repositoryId }, signal),
    openForge: (project) => openForge(project, forges, startPolling(answers, project.id)),
    async openContextForge(repository) {
      const credential = await openContextCredential({ db: pool, sealer }, repository.id);
      return contextForgeOf(forges, { ...repository, credential }, startPolling(answers, repository.id));
    },
    openReader: createReader({
      pool,
      defaultModel: config.model,
      openModel: async (project, name) => traceModel(parts.tracer, await openModel(project, name)),
      knownSecrets: (projectId) => knownSecretsOf({ config, pool, sealer, secret: parts.secret }, projectId),
    }),
  };
}

/** Builds the base branch for the owner, who then knows what jobs will meet. */
async function tryBuildOf(
  { mirrors, forges, siteCache }: Parts,
  builds: Builds,
  project: Project,
  signal: AbortSignal,
): Promise<readonly ProjectCheck[]> {
  const { build: settings } = project.settings;
  if (!settings.on) return [];
  const mirror = await mirrors.open(project.id);
  const remote = await (await openForge(project, forges)).gitRemote(signal);
  const jobId = `build_${project.id}`;
  try {
    const { commit } = await mirror.fetchBase({ remote, jobId, baseRef: project.baseRef }, signal);
    const task = { base: mirror.treeAt(commit), docsDir: project.docsDir, settings, siteCache };
    const { isBuilt, words } = await builds.tryBase(task, signal);
    return [{ name: "build", verdict: isBuilt ? "ok" : "problem", words }];
  } finally {
    await mirror.release(jobId);
  }
}

function modelOpener({ config, models, metrics }: Parts) {
  return async (
    project: { id: string; settings: { fallbackModels: readonly string[] | null } },
    name: string,
  ): Promise<Model> => {
    const fallbacks = project.settings.fallbackModels ?? config.modelFallbacks;
    const model = await openModel(models, { name, fallbacks, projectId: project.id });
    return measureModel(metrics, model);
  };
}

function composeWorker(
  parts: Parts,
  own: {
    mirrors: Mirrors;
    siteCache: DiskCache;
    writes: WriteQueue;
    builds: Builds;
    crashPoint: ReturnType<typeof createCrashPoint>;
    onEnded(projectId: string): void;
  },
): Worker {
  const { config, log, metrics, tracer, database, pool, listener, sealer, secret, forges, automations } = parts;
  const { mirrors, siteCache, writes, builds, crashPoint } = own;
  const untraced = createStages({
    mirrors,
    writes,
    siteCache,
    builds,
    pageReader: createPageReader(),
    findProject: (id) => getProject(pool, id),
    openForge: (project) => openForge(project, forges),
    openModel: modelOpener(parts),
    recentSubjects: createRecentSubjects({ git: forges.local.git, dir: join(config.dataDir, "mirrors") }),
    pageHistory: createPageHistory({ git: forges.local.git, dir: join(config.dataDir, "mirrors") }),
    readCommit: createCommitReader({ git: forges.local.git, dir: join(config.dataDir, "mirrors") }),
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
    spentBudget: (projectId) => spentBudget(pool, projectId),
    uploadsOf: (jobId) => uploadsOfJob(pool, jobId),
    seesPictures: (model) => canSeePictures(model, config.modelPrices),
    openKnowledge: (job) => openProjectKnowledge({ config, pool, sealer }, job),
    trace: (jobId, redact) => traceAgent(tracer, jobId, redact),
    findRefused: (job, diff) => findClosedChange(pool, job.id, diff),
    findTouching: (job, diff, signal) => findTouchingPull({ ...automations, db: pool }, job, diff, signal),
    jobUrl: (job) => `${forges.local.publicUrl()}/app/jobs/${job.id}`,
    async pictureUrls(job) {
      const address = forges.local.publicUrl();
      if (isLoopback(new URL(address).hostname)) return [];
      const to = (link: string | null) => link && `${address}/pictures/${link}`;
      const pages = await listPictureLinks(pool, job.id, 3);
      return pages.map(({ path, before, after }) => ({ path, before: to(before), after: to(after) }));
    },
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
      disk: parts.disk,
      homes: parts.heartbeat,
      crashPoint,
      onSettled(outcome, projectId) {
        metrics.runs.inc({ outcome });
        own.onEnded(projectId);
      },
    },
    { concurrency: config.concurrency },
  );
}
