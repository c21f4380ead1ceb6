import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { AppError } from "../errors.ts";
import { readJsonBodies } from "../http/request-body.ts";
import { createAnnounceDue } from "../jobs/announce.ts";
import { createJobReader } from "../jobs/read/job-reader.ts";
import { readAssets } from "./assets.ts";
import type { AccountsDeps, DashboardDeps } from "./dashboard.ts";
import { isId } from "./find.ts";
import { plainPages, sendPage } from "./plain-page.ts";
import { requireOwnPage, requireSession } from "./require-session.ts";
import { ownSessionRoutes, passwordRoute, settingsRoutes, startRoutes } from "./routes/account.ts";
import { auditRoutes } from "./routes/audit.ts";
import { automationRoutes } from "./routes/automations.ts";
import { claimRoutes } from "./routes/claims.ts";
import { directoryRoutes } from "./routes/directory.ts";
import { factorRoutes } from "./routes/factors.ts";
import { gateRoutes } from "./routes/gates.ts";
import { githubAppRoutes } from "./routes/github-apps.ts";
import { healthRoutes, statusRoute } from "./routes/health.ts";
import { inboxRoutes } from "./routes/inbox.ts";
import { composeJobRoutes, jobDetailRoutes, jobRoutes } from "./routes/jobs.ts";
import { keyRoutes } from "./routes/keys.ts";
import { memberRoutes } from "./routes/members.ts";
import { passkeyLoginRoutes, passkeyRoutes } from "./routes/passkeys.ts";
import { projectConnectionRoutes, projectContextRoutes } from "./routes/project-connection.ts";
import { projectImportRoutes } from "./routes/project-import.ts";
import { projectRoutes } from "./routes/projects.ts";
import { pullRoutes, reviewRoutes, verdictRoutes } from "./routes/pulls.ts";
import { searchRoutes } from "./routes/search.ts";
import { setUpRoutes } from "./routes/set-up.ts";
import { linkRoutes, loginLinkRoute, loginRoutes, sessionRoute } from "./routes/sign-in.ts";
import { samlRoutes, singleSignOnRoutes } from "./routes/single-sign-on.ts";
import { usageRoutes } from "./routes/usage.ts";

export const apiPrefix = "/dashboard/api";

/** The dashboard: its pages at `/app`, and their JSON API, for browser sessions only. */
export function dashboardPlugin(deps: DashboardDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    const reader = createJobReader(deps);
    app.addHook("preClose", async () => reader.close());
    const shared = { ...deps, reader, announceDue: createAnnounceDue({ db: deps.pool, log: deps.log }) };
    app.register(
      async (api) => {
        readJsonBodies(api);
        api.addHook("onRequest", requireSession(deps));
        sessionRoute(api, shared);
        projectRoutes(api, shared);
        projectConnectionRoutes(api, shared);
        projectImportRoutes(api, shared);
        githubAppRoutes(api, shared);
        projectContextRoutes(api, shared);
        deps.addOperations(api);
        automationRoutes(api, shared);
        keyRoutes(api, shared);
        healthRoutes(api, shared);
        statusRoute(api, shared);
        usageRoutes(api, shared);
        jobRoutes(api, shared);
        composeJobRoutes(api, shared);
        jobDetailRoutes(api, shared);
        pullRoutes(api, shared);
        reviewRoutes(api, shared);
        verdictRoutes(api, shared);
        inboxRoutes(api, shared);
        searchRoutes(api, shared);
        gateRoutes(api, shared);
        claimRoutes(api, shared);
      },
      { prefix: apiPrefix },
    );
    appRoutes(app, deps);
  };
}

/** The dashboard's single page, at every path below `/app`, and the files that it loads. */
function appRoutes(
  app: FastifyInstance,
  deps: Pick<DashboardDeps, "assetsDir" | "publicUrl" | "sessions" | "projectAdmin">,
): void {
  const assets = readAssets(deps.assetsDir);

  function sendApp(reply: FastifyReply, postsTo?: string): FastifyReply {
    if (!assets) return sendPage(reply, 503, plainPages.unbuilt, postsTo);
    const basePath = new URL(deps.publicUrl()).pathname.replace(/\/+$/, "");
    // The build's links are relative, which would break on nested pages.
    return sendPage(reply, 200, assets.page.replaceAll('"./assets/', `"${basePath}/app/assets/`), postsTo);
  }

  app.get("/app", async (_request, reply) => sendApp(reply));
  app.get("/app/*", async (_request, reply) => sendApp(reply));
  // The only page with a form for another site: the GitHub server that this session named for its new App.
  app.get<{ Querystring: { app?: unknown } }>("/app/github-app", async (request, reply) => {
    const session = deps.sessions.tokenOf(request.headers.cookie);
    const { app: id } = request.query;
    const origin = session !== null && isId(id) ? await deps.projectAdmin.githubApps.originOf(id, session) : null;
    return sendApp(reply, origin ?? undefined);
  });
  app.get<{ Params: { name: string } }>("/app/assets/:name", async (request, reply) => {
    const asset = assets?.files.get(request.params.name);
    if (!asset) throw new AppError("not_found", { publicMessage: "Not found." });
    return asset.send(request, reply);
  });
}

const bodyBytesMax = 64 * 1024;

function tooMuch(): AppError {
  const publicMessage = "Too many logins at once. Try again in a moment.";
  return new AppError("unavailable", { publicMessage, retryAfterMs: 5_000 });
}

/** For routes without a session: nothing is cached, and all bodies together are limited. */
function protectOpen(app: FastifyInstance, { unknownBytes }: Pick<AccountsDeps, "unknownBytes">): void {
  app.addHook("onRequest", async (_request, reply) => {
    reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  });
  app.addHook("preParsing", async (_request, reply, payload) =>
    unknownBytes.spend(payload as Readable, reply.raw, tooMuch),
  );
}

/** The dashboard's routes for accounts: logging in, which needs no session, and managing members. */
export function accountsPlugin(deps: AccountsDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    loginLinkRoute(app, deps);
    app.register(
      async (posted) => {
        protectOpen(posted, deps);
        samlRoutes(posted, deps);
      },
      { prefix: `${apiPrefix}/auth/saml` },
    );
    app.register(
      async (open) => {
        readJsonBodies(open);
        open.addHook("onRequest", async (request) => requireOwnPage(request, deps.publicUrl()));
        protectOpen(open, deps);
        loginRoutes(open, deps);
        passkeyLoginRoutes(open, deps);
        setUpRoutes(open, deps);
        linkRoutes(open, deps);
        singleSignOnRoutes(open, deps);
      },
      { prefix: `${apiPrefix}/auth`, bodyLimit: bodyBytesMax },
    );
    app.register(
      async (closed) => {
        readJsonBodies(closed);
        closed.addHook("onRequest", requireSession(deps));
        startRoutes(closed, deps);
        passwordRoute(closed, deps);
        ownSessionRoutes(closed, deps);
        factorRoutes(closed, deps);
        passkeyRoutes(closed, deps);
        memberRoutes(closed, deps);
        directoryRoutes(closed, deps);
        settingsRoutes(closed, deps);
        auditRoutes(closed, deps);
      },
      { prefix: apiPrefix, bodyLimit: bodyBytesMax },
    );
  };
}
