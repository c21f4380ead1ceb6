import { fileURLToPath } from "node:url";
import { authenticateGitKey } from "../accounts/authenticate-key.ts";
import { getProject } from "../accounts/get-project.ts";
import { createKeyring } from "../accounts/keyring.ts";
import { createKnownDevices } from "../accounts/known-devices.ts";
import { createPasswords } from "../accounts/passwords.ts";
import { refreshLocalUrls } from "../accounts/refresh-local-urls.ts";
import { createSessions } from "../accounts/sessions.ts";
import { createSingleSignOn } from "../accounts/single-sign-on/single-sign-on.ts";
import { createProjectAdmin } from "../admin/create-project-admin.ts";
import { readPrompt } from "../agent/rules/read-prompt.ts";
import { createAutomations } from "../automations/automations.ts";
import { hastenLooks } from "../automations/claim-look.ts";
import { accountsPlugin } from "../dashboard/accounts-plugin.ts";
import { assetsDir, isDashboardBuilt } from "../dashboard/assets.ts";
import { dashboardPlugin } from "../dashboard/plugin.ts";
import { forgeHooksPlugin } from "../forge/hooks/plugin.ts";
import { localForgePlugin } from "../forge/local/plugin.ts";
import { createPullDesk } from "../forge/local/pull-desk.ts";
import { suggestFixes } from "../health/suggest-fixes.ts";
import { buildApp } from "../http/app.ts";
import { mcpPlugin } from "../http/mcp-plugin.ts";
import { rememberUrl, urlOf } from "../installation/public-url.ts";
import { typedCommand } from "../installation/typed-command.ts";
import { hastenLook } from "../jobs/claim-look.ts";
import { createByteBudget } from "../lib/byte-budget.ts";
import { measureRequests } from "../metrics/measure-requests.ts";
import { metricsPlugin } from "../metrics/metrics-server.ts";
import { askAutomations } from "../tasks/ask-automations.ts";
import { askSiteCheck } from "../tasks/ask-site-check.ts";
import { traceRequests } from "../tracing/trace-requests.ts";
import { describeListenError } from "./describe-listen-error.ts";
import type { Parts, Undo } from "./parts.ts";
import { readPullRequestState } from "./pull-request-state.ts";

/** The docs that `emend demo` works on, where they came along. */
const sampleDir = fileURLToPath(new URL("../../../cli/sample/", import.meta.url));

/** Everything that answers requests: the contract's routes, the local forge, MCP, hooks of forges and the dashboard. */
export async function composeApi(parts: Parts, undo: Undo): Promise<void> {
  const { config, log, secret, pool, listener, bound, publicUrl, admin, local, network } = parts;
  const { metrics, tracer, sealer, forges, automations } = parts;
  const keyring = createKeyring({ pool, listener, log });
  undo.push(() => keyring.close());
  const access = {
    authenticateKey: (bearer: Parameters<typeof authenticateGitKey>[1]) => authenticateGitKey(keyring, bearer),
    sessions: createSessions({ pool, publicUrl }),
  };
  const serving = new AbortController();
  const unknownBytes = createByteBudget({ bytesMax: 32 * 2 ** 20, bodyMsMax: 20_000 });
  const isBuilt = isDashboardBuilt();
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
        unknownBytes,
        isProject: async (projectId) => (await getProject(pool, projectId)) !== undefined,
        noticed: (input) => hastenLook(pool, input),
        async pushed(projectId) {
          const looks = await hastenLooks(pool, projectId);
          if (looks > 0) await askAutomations(pool);
          return looks > 0;
        },
      }),
      accountsPlugin({
        pool,
        unknownBytes,
        sessions: access.sessions,
        passwords: createPasswords(),
        devices: createKnownDevices({ sealer, sessions: access.sessions, publicUrl }),
        singleSignOn: config.singleSignOn && createSingleSignOn({ fetch: network.fetch, sealer }, config.singleSignOn),
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
        typed: typedCommand(config),
        defaultModel: config.model,
        promptCodePointsMax: config.promptCodePointsMax,
        projectAdmin: createProjectAdmin({
          admin,
          pool,
          sealer,
          reach: forges.reach,
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
