import { fileURLToPath } from "node:url";
import { readPrompt } from "@emend/agent";
import { createByteBudget } from "@emend/base/byte-budget.ts";
import { createPageReader } from "@emend/review";
import { traceRequests } from "@emend/tracing";
import { authenticateGitKey, createKeyring } from "../accounts/keys/keyring.ts";
import { createAuthorizationServer } from "../accounts/programs/authorization-server.ts";
import { getProject, type Project, refreshLocalUrls } from "../accounts/projects/projects.ts";
import { createKnownDevices } from "../accounts/sessions/log-in.ts";
import { createPasswords } from "../accounts/sessions/passwords.ts";
import { createSessions } from "../accounts/sessions/sessions.ts";
import { createSingleSignOn, type SingleSignOn } from "../accounts/single-sign-on/single-sign-on.ts";
import { createProjectAdmin } from "../admin/create-project-admin.ts";
import { createAutomations } from "../automations/automation-store.ts";
import { hastenTriggers } from "../automations/claim-trigger-poll.ts";
import { automationWebhookPlugin } from "../automations/webhook.ts";
import { storeChatMessage } from "../chat/chat-store.ts";
import { slackHookPlugin } from "../chat/plugin.ts";
import { isComparedWithCode } from "../claims/claim-store.ts";
import { ConfigError } from "../config/setting-reader.ts";
import { assetsDir } from "../dashboard/assets.ts";
import { knowledgePlugin } from "../dashboard/knowledge-plugin.ts";
import { plainPages } from "../dashboard/plain-page.ts";
import { accountsPlugin, dashboardPlugin } from "../dashboard/plugin.ts";
import { programsPlugin } from "../dashboard/programs-plugin.ts";
import { forgeHooksPlugin } from "../forge/hooks/plugin.ts";
import { localForgePlugin } from "../forge/local/plugin.ts";
import { createPullDesk } from "../forge/local/pull-desk.ts";
import { authorOf, createReviewDesk } from "../forge/local/review-desk.ts";
import { openForge } from "../forge/open-forge.ts";
import { isGated } from "../gate/gate-store.ts";
import { suggestFixes } from "../health/suggest-fixes.ts";
import { buildApp } from "../http/app.ts";
import { mcpPlugin } from "../http/mcp-plugin.ts";
import { picturePlugin } from "../http/picture-plugin.ts";
import { scimPlugin } from "../http/scim-plugin.ts";
import { takeConnection } from "../installation/knowledge-reach.ts";
import { rememberUrl, typedCommand, urlOf } from "../installation/public-url.ts";
import { hastenPoll } from "../jobs/pull-requests.ts";
import { measureRequests, routeOf } from "../metrics/measure.ts";
import { metricsPlugin } from "../metrics/metrics.ts";
import { createGuardedFetch } from "../notify/ssrf-guard.ts";
import { operationsPlugin, sessionOperationRoutes } from "../operations/routes.ts";
import { commitEdit } from "../run/commit-edit.ts";
import { checkEdit, proposeEdit } from "../run/propose-edit.ts";
import {
  askAutomations,
  askClaimPoll,
  askGate,
  askIssue,
  askSiteCheck,
  isSiteCheckAsked,
} from "../tasks/start-tasks.ts";
import { retryTask } from "../tasks/task-queue.ts";
import { knownSecretsOf } from "./known-secrets.ts";
import { type Parts, readPullRequestState, type Undo } from "./parts.ts";
import { createPagesReader } from "./read-pages.ts";
import { createStatusReader } from "./status.ts";

/** The docs for `emend demo`, if they are included. */
const sampleDir = fileURLToPath(new URL("../../../cli/sample/", import.meta.url));

/** Everything that answers requests: the API, the local forge, MCP, forge webhooks and the dashboard. */
export async function composeApi(parts: Parts, undo: Undo): Promise<void> {
  const { config, log, secret, pool, listener, bound, publicUrl, admin, local, network } = parts;
  const { metrics, tracer, sealer, forges, automations, lateReads } = parts;
  const keyring = createKeyring({ pool, listener, log });
  undo.push(() => keyring.close());
  const sessions = createSessions({ pool, publicUrl });
  const programs = createGuardedFetch(config.network, { allowPrivate: config.allowPrivatePrograms });
  undo.push(() => programs.close());
  const serving = new AbortController();
  const unknownBytes = createByteBudget({ bytesMax: 32 * 2 ** 20, bodyMsMax: 20_000 });
  const pullRequestState = (projectId: string, number: number) =>
    readPullRequestState({ pool, forges, log }, projectId, number);
  const editing = {
    pool,
    mirrors: parts.mirrors,
    siteCache: parts.siteCache,
    pageReader: createPageReader(),
    findProject: (id: string) => getProject(pool, id),
    openForge: (project: Project) => openForge(project, forges),
    knownSecrets: (projectId: string) => knownSecretsOf({ config, pool, sealer, secret }, projectId),
  };
  const operationDeps = { pool, sealer, allowPrivateWebhooks: config.allowPrivateWebhooks };
  const app = buildApp({
    pool,
    listener,
    keyring,
    log,
    problem: parts.disk.problem,
    publicUrl,
    trustProxy: config.trustProxy,
    promptCodePointsMax: config.promptCodePointsMax,
    defaultModel: config.model,
    modelPrices: config.modelPrices,
    pullRequestState,
    askClaimPoll: (projectId) => askClaimPoll(pool, projectId),
    askGate: (projectId) => askGate(pool, projectId),
    plugins: [
      operationsPlugin({ ...operationDeps, keyring }),
      localForgePlugin({
        ...local,
        log,
        signal: serving.signal,
        authenticateKey: (request) => authenticateGitKey(keyring, request),
      }),
      mcpPlugin({ keyring, publicUrl }),
      programsPlugin({
        server: createAuthorizationServer({
          pool,
          publicUrl,
          fetch: programs.fetch,
          log,
          errorPage: plainPages.notConnected,
        }),
        sessions,
        log,
        unknownBytes,
        publicUrl,
      }),
      knowledgePlugin({
        log,
        publicUrl,
        take: (answer) => takeConnection({ config, pool, sealer, publicUrl: publicUrl() }, answer),
      }),
      forgeHooksPlugin({
        secret,
        unknownBytes,
        isProject: async (projectId) => (await getProject(pool, projectId)) !== undefined,
        async noticed(input) {
          // A look at a job's own pull request notices the merge itself.
          const isOwn = await hastenPoll(pool, input);
          if (input.isMerged && !isOwn) await askSiteCheck(pool, input.projectId);
          if ((await hastenTriggers(pool, input.projectId, "pull_request")) > 0) await askAutomations(pool);
          await askGate(pool, input.projectId);
        },
        async askedOnIssue({ projectId, number }) {
          const project = await getProject(pool, projectId);
          if (!project?.settings.issueTriggers) return false;
          await askIssue(pool, { projectId, number });
          return true;
        },
        async pushed(projectId) {
          const looks = await hastenTriggers(pool, projectId);
          if (looks > 0) await askAutomations(pool);
          const hasGate = await isGated(pool, projectId);
          if (hasGate) await askGate(pool, projectId);
          const isCompared = await isComparedWithCode(pool, projectId);
          if (isCompared) await askClaimPoll(pool, projectId);
          return looks > 0 || hasGate || isCompared;
        },
      }),
      ...(config.slack?.signingSecret
        ? [
            slackHookPlugin({
              signingSecret: config.slack.signingSecret,
              unknownBytes,
              heard: async (said) => void (await storeChatMessage(pool, "slack", said)),
            }),
          ]
        : []),
      automationWebhookPlugin({ pool, sealer, secret, unknownBytes, announce: () => askAutomations(pool) }),
      picturePlugin(pool),
      scimPlugin({ pool, log, publicUrl }),
      accountsPlugin({
        pool,
        unknownBytes,
        sessions,
        passwords: createPasswords(),
        sealer,
        devices: createKnownDevices({ sealer, sessions, publicUrl }),
        singleSignOn: await openSingleSignOn({ config, sealer, pool, publicUrl, network }),
        log,
        publicUrl,
        retention: config.retention,
        addSample: (by) => admin.addProject({ name: "Sample docs", forge: "local", repo: sampleDir }, by),
      }),
      dashboardPlugin({
        pool,
        lateReads,
        listener,
        sessions,
        log,
        publicUrl,
        cell: config.cell,
        typed: typedCommand(config),
        defaultModel: config.model,
        modelPrices: config.modelPrices,
        promptCodePointsMax: config.promptCodePointsMax,
        projectAdmin: createProjectAdmin({
          admin,
          pool,
          sealer,
          secret,
          publicUrl,
          reach: forges.reach,
          config,
          local,
        }),
        automations: createAutomations(automations),
        addOperations: (api) => sessionOperationRoutes(api, operationDeps),
        pullRequestState,
        pulls: createPullDesk({ ...local, signal: serving.signal }),
        reviews: createReviewDesk({
          ...local,
          signal: serving.signal,
          commitEdit: (edit, signal) => commitEdit(editing, edit, signal),
        }),
        readPrompt,
        suggestions: (projectId) => suggestFixes({ db: pool, defaultModel: config.model }, projectId),
        askSiteCheck: (projectId) => askSiteCheck(pool, projectId),
        isSiteCheckAsked: (projectId) => isSiteCheckAsked(pool, projectId),
        askGate: (projectId) => askGate(pool, projectId),
        askClaimPoll: (projectId) => askClaimPoll(pool, projectId),
        checkEdit: (edit) => checkEdit(editing, edit, serving.signal),
        proposeEdit: async ({ by, ...edit }) =>
          proposeEdit(editing, { ...edit, author: await authorOf(pool, by) }, serving.signal),
        ...createPagesReader({ pool, mirrors: parts.mirrors }),
        assetsDir,
        sendsEmail: config.smtp !== null,
        status: createStatusReader({ pool, config, fetch: network.fetch, forgeFetch: forges.reach.fetch }),
        retryTask: (task) => retryTask(pool, task),
      }),
    ],
  });
  if (config.metricsToken !== null) app.register(metricsPlugin({ metrics, token: config.metricsToken }));
  const stopMeasuring = measureRequests({ metrics, log }, app.server);
  undo.push(async () => stopMeasuring());
  if (tracer) {
    const stopTracing = traceRequests(tracer, app.server, routeOf);
    undo.push(async () => stopTracing());
  }
  await app.listen({ host: config.host, port: config.port }).catch((error) => {
    throw describeListenError(error, { host: config.host, port: config.port, variable: "EMEND_PORT" });
  });
  undo.push(() => {
    serving.abort();
    return app.close();
  });
  const address = app.server.address();
  bound.url = urlOf(config.host, typeof address === "object" && address ? address.port : config.port);
  await rememberUrl(config.dataDir, publicUrl());
  await refreshLocalUrls(pool, publicUrl());
}

/** By OpenID Connect or by SAML. The SAML library is loaded only for those who use it. */
async function openSingleSignOn({
  config,
  network: { fetch },
  ...deps
}: Pick<Parts, "config" | "sealer" | "pool" | "publicUrl" | "network">): Promise<SingleSignOn | null> {
  if (config.singleSignOn) return createSingleSignOn({ ...deps, fetch }, config.singleSignOn);
  if (!config.saml) return null;
  const { createSaml } = await import("../accounts/single-sign-on/saml.ts");
  return createSaml({ ...deps, fetch }, config.saml);
}

/** Explains which setting makes listening impossible. Other errors, and a port in use, are returned unchanged. */
export function describeListenError(
  error: unknown,
  at: { host: string; port: number | null; variable: "EMEND_PORT" | "EMEND_METRICS_PORT" },
): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRNOTAVAIL":
      return new ConfigError([`EMEND_HOST must be an address of this machine, which "${at.host}" is not`]);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new ConfigError([`EMEND_HOST must be an address or a name of this machine; "${at.host}" is unknown`]);
    case "EACCES":
      return new ConfigError([`${at.variable} must be a port that this user may listen on, which ${at.port} is not`]);
    case "EADDRINUSE":
      return at.variable === "EMEND_METRICS_PORT"
        ? new ConfigError([`EMEND_METRICS_PORT must be a free port, and ${at.port} is in use`])
        : error;
    default:
      return error;
  }
}
