import type { IncomingHttpHeaders } from "node:http";
import { readPrompt } from "@emend/agent";
import { createByteBudget } from "@emend/base/byte-budget.ts";
import { createLogger } from "@emend/base/logger.ts";
import { usualRetention } from "@emend/contract";
import { createGit } from "@emend/tree";
import type { FastifyPluginAsync } from "fastify";
import { setModelKey } from "../../server/src/accounts/keys/model-keys.ts";
import { createLoginLink } from "../../server/src/accounts/people/login-links.ts";
import type { Role } from "../../server/src/accounts/people/user.ts";
import { addProject } from "../../server/src/accounts/projects/save-project.ts";
import { createSealer } from "../../server/src/accounts/secrets.ts";
import { createKnownDevices } from "../../server/src/accounts/sessions/log-in.ts";
import { createPasswords } from "../../server/src/accounts/sessions/passwords.ts";
import { openSession } from "../../server/src/accounts/sessions/session-store.ts";
import { createSessions } from "../../server/src/accounts/sessions/sessions.ts";
import { describeModels } from "../../server/src/admin/project-models.ts";
import { createAutomations } from "../../server/src/automations/automation-store.ts";
import { createStatusReader } from "../../server/src/compose/status.ts";
import type { AccountsDeps, DashboardDeps } from "../../server/src/dashboard/dashboard.ts";
import { accountsPlugin, apiPrefix, dashboardPlugin } from "../../server/src/dashboard/plugin.ts";
import type { ProjectAdmin } from "../../server/src/dashboard/project-admin.ts";
import type { Listener } from "../../server/src/db/listener.ts";
import type { Pool } from "../../server/src/db/pool.ts";
import { asActor } from "../../server/src/db/transaction.ts";
import { createPullDesk } from "../../server/src/forge/local/pull-desk.ts";
import { createReviewDesk } from "../../server/src/forge/local/review-desk.ts";
import { newId } from "../../server/src/lib/id.ts";
import { sessionOperationRoutes } from "../../server/src/operations/routes.ts";
import { retryTask } from "../../server/src/tasks/task-queue.ts";
import { startApi, type TestApi } from "./api.ts";
import { automationDeps } from "./automations.ts";

interface DashboardRequest {
  method?: "GET" | "POST" | "PATCH";
  /** Null: no cookie. Absent: the cookie of a logged-in browser. */
  cookie?: string | null;
  /** Sent as our own pages send it: POST, JSON, same origin. */
  body?: unknown;
  /** Overrides the browser's headers. Undefined removes one. */
  headers?: Record<string, string | undefined>;
}

interface DashboardAnswer {
  statusCode: number;
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whichever field it is about
  json(): any;
}

export interface DashboardApi {
  api: TestApi;
  /** The cookie of a new session. */
  logIn(): Promise<string>;
  /** A logged-in user. */
  addMember(role: Role): Promise<TestMember>;
  send(path: string, request?: DashboardRequest): Promise<DashboardAnswer>;
  close(): Promise<void>;
}

interface TestMember {
  id: string;
  email: string;
  cookie: string;
}

const publicUrl = "https://emend.test/base";
const testSealer = createSealer("a secret of the tests, and of nothing else");

const git = createGit({ allowedProtocols: ["file"] });

type DashboardOptions = Partial<DashboardDeps> & {
  forgeDir?: string;
  /** For tests whose projects are on a forge. */
  projectAdminFor?(pool: Pool): ProjectAdmin;
  commitEdit?: Parameters<typeof createReviewDesk>[0]["commitEdit"];
  /** For single sign-on that stores something. */
  singleSignOnFor?(pool: Pool): AccountsDeps["singleSignOn"];
} & Partial<Pick<AccountsDeps, "singleSignOn" | "retention">>;

/** The dashboard and its users, on a server's dependencies. */
export function dashboardPlugins(
  { pool, listener }: { pool: Pool; listener: Listener },
  options: DashboardOptions = {},
): FastifyPluginAsync {
  const { singleSignOn = null, retention = usualRetention, ...changed } = options;
  const at = options.publicUrl ?? (() => publicUrl);
  const shared = {
    pool,
    sessions: createSessions({ pool, publicUrl: at }),
    log: createLogger({ level: "silent" }),
    publicUrl: at,
  };
  const accounts = accountsPlugin({
    unknownBytes: createByteBudget({ bytesMax: 2 ** 20, bodyMsMax: 60_000 }),
    ...shared,
    passwords: createPasswords(),
    sealer: testSealer,
    devices: createKnownDevices({ sealer: testSealer, sessions: shared.sessions, publicUrl: shared.publicUrl }),
    singleSignOn: options.singleSignOnFor?.(pool) ?? singleSignOn,
    retention,
    addSample: (by) => projectAdminOf(pool).add({ name: "Sample docs", forge: "local" }, by),
  });
  const dashboard = dashboardPlugin({
    ...shared,
    lateReads: pool,
    listener,
    cell: "eu-1",
    typed: { command: "emend", dataDir: "/srv/emend" },
    defaultModel: "emend/rules",
    promptCodePointsMax: 100_000,
    addOperations: (api) => sessionOperationRoutes(api, { pool, sealer: testSealer, allowPrivateWebhooks: false }),
    projectAdmin: options.projectAdminFor?.(pool) ?? projectAdminOf(pool),
    automations: createAutomations(automationDeps(pool)),
    pullRequestState: async () => null,
    pulls: createPullDesk({
      git,
      forgeDir: options.forgeDir ?? "/nowhere",
      pool,
      publicUrl: at,
      signal: new AbortController().signal,
    }),
    reviews: createReviewDesk({
      git,
      forgeDir: options.forgeDir ?? "/nowhere",
      pool,
      publicUrl: at,
      signal: new AbortController().signal,
      commitEdit: options.commitEdit ?? (async () => ({ kind: "refused", reason: "This test commits nothing." })),
    }),
    readPrompt,
    suggestions: async () => [],
    askSiteCheck: async () => {},
    isSiteCheckAsked: async () => false,
    askGate: async () => {},
    askClaimPoll: async () => {},
    readPage: async () => null,
    listPages: async () => [],
    searchPages: async () => [],
    checkEdit: async () => ({ kind: "refused", reason: "This test checks nothing." }),
    proposeEdit: async () => ({ kind: "refused", reason: "This test proposes nothing." }),
    sendsEmail: true,
    retryTask: (task) => retryTask(pool, task),
    status: createStatusReader({
      pool,
      config: { model: "emend/rules", modelFallbacks: [], modelEndpoints: {} },
      fetch: async () => ({ status: 200, headers: new Headers(), body: null }),
      forgeFetch: async () => ({ status: 200, headers: new Headers(), body: null }),
    }),
    assetsDir: new URL("file:///nowhere/"),
    publishingWaitMs: 0,
    ...changed,
  });
  return async (app) => {
    app.register(accounts);
    app.register(dashboard);
  };
}

/** The HTTP API with the dashboard mounted, and a logged-in browser. */
export async function startDashboard(options: DashboardOptions = {}): Promise<DashboardApi> {
  const api = await startApi({ publicUrl: () => publicUrl, pluginOf: (parts) => dashboardPlugins(parts, options) });

  async function logIn(): Promise<string> {
    const link = await createLoginLink({ db: api.pool, publicUrl }, { landsOn: "/app" });
    const token = link.slice(link.lastIndexOf("/") + 1);
    const claimed = await createSessions({ pool: api.pool, publicUrl: () => publicUrl }).claim(token, undefined);
    if (claimed.kind !== "claimed") throw new Error(claimed.kind);
    return claimed.cookie.split(";", 1)[0] ?? "";
  }
  const ownCookie = await logIn();

  async function addMember(role: Role): Promise<TestMember> {
    const [id, email] = [newId("usr"), `${role}-${newId("usr")}@emend.test`];
    await api.pool.query("insert into users (id, email, name, role) values ($1, $2, $2, $3)", [id, email, role]);
    const token = await openSession(api.pool, { userId: id, how: "password", address: null, replaces: null });
    const cookie = createSessions({ pool: api.pool, publicUrl: () => publicUrl }).cookieOf(token);
    return { id, email, cookie: cookie.split(";", 1)[0] ?? "" };
  }

  return {
    api,
    logIn,
    addMember,
    async send(path, { cookie = ownCookie, body, headers = {}, method = body === undefined ? "GET" : "POST" } = {}) {
      const sent = {
        ...(cookie !== null && { cookie }),
        ...(body !== undefined && {
          origin: new URL(publicUrl).origin,
          "sec-fetch-site": "same-origin",
          "content-type": "application/json",
        }),
        ...headers,
      };
      const present = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
      const answer = await api.send(`${apiPrefix}${path}`, {
        method,
        body,
        headers: present as Record<string, string>,
      });
      return { statusCode: answer.status, headers: answer.headers, body: answer.text, json: () => answer.json };
    },
    close: () => api.close(),
  };
}

/** Rows only: tests of the forge cover what a forge stores and reports for a project. */
function projectAdminOf(pool: Pool): ProjectAdmin {
  const sealer = testSealer;
  const none = async () => {
    throw new Error("this test has no forge");
  };
  return {
    add: ({ name, docsDir = "" }) =>
      addProject({ db: pool, sealer }, { name, forge: "local", repositoryUrl: `${publicUrl}/git/docs.git`, docsDir }),
    diagnose: none,
    move: async () => ({ repositoryUrl: "" }),
    setCredential: none,
    async setModelKey(input, by) {
      await setModelKey({ db: asActor(pool, by), sealer }, input);
    },
    describeModels: (project) =>
      describeModels({ db: pool, config: { model: "emend/rules", modelEndpoints: {}, modelPrices: {} } }, project),
    tryModel: none,
    isEmpty: async () => true,
    templates: [],
    fill: none,
    addContext: none,
    listRepositories: none,
    githubApps: {
      begin: none,
      originOf: async () => null,
      manifest: none,
      created: none,
      list: async () => [],
      remove: async () => false,
    },
  };
}
