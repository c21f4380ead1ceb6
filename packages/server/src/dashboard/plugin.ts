import type { FastifyInstance, FastifyReply } from "fastify";
import { AppError } from "../errors.ts";
import { createAnnounceDue } from "../jobs/announce-due.ts";
import { createJobReader } from "../jobs/read/job-reader.ts";
import { readAssets } from "./assets.ts";
import type { DashboardDeps } from "./dashboard.ts";
import { readBodies } from "./parse-request.ts";
import { requireSession } from "./require-session.ts";
import { automationRoutes } from "./routes/automations.ts";
import { healthRoutes } from "./routes/health.ts";
import { jobDetailRoutes } from "./routes/job-details.ts";
import { composeJobRoutes, jobActionRoutes, jobRoutes, messageJobRoute } from "./routes/jobs.ts";
import { keyRoutes } from "./routes/keys.ts";
import { projectConnectionRoutes, projectContextRoutes } from "./routes/project-connection.ts";
import { projectWebhookRoutes } from "./routes/project-webhooks.ts";
import { projectRoutes } from "./routes/projects.ts";
import { pullRoutes } from "./routes/pulls.ts";
import { sessionRoute } from "./routes/sign-in.ts";
import { streamEventsRoute } from "./routes/stream-events.ts";
import { usageRoutes } from "./routes/usage.ts";

export const apiPrefix = "/dashboard/api";

/** The dashboard: its pages at `/app`, and the JSON that they read and write, for browser sessions alone. */
export function dashboardPlugin(deps: DashboardDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    const reader = createJobReader(deps);
    app.addHook("preClose", async () => reader.close());
    const shared = { ...deps, reader, announceDue: createAnnounceDue({ db: deps.pool, log: deps.log }) };
    app.register(
      async (api) => {
        readBodies(api);
        api.addHook("onRequest", requireSession(deps));
        sessionRoute(api, shared);
        projectRoutes(api, shared);
        projectConnectionRoutes(api, shared);
        projectContextRoutes(api, shared);
        projectWebhookRoutes(api, shared);
        automationRoutes(api, shared);
        keyRoutes(api, shared);
        healthRoutes(api, shared);
        usageRoutes(api, shared);
        jobRoutes(api, shared);
        composeJobRoutes(api, shared);
        jobDetailRoutes(api, shared);
        messageJobRoute(api, shared);
        jobActionRoutes(api, shared);
        streamEventsRoute(api, shared);
        pullRoutes(api, shared);
      },
      { prefix: apiPrefix },
    );
    appRoutes(app, deps);
  };
}

/** Nothing inline, nothing from elsewhere: what slipped through an escaper would still do nothing. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The dashboard's one page, at every path below `/app`, and the files that it loads. */
function appRoutes(app: FastifyInstance, deps: Pick<DashboardDeps, "assetsDir" | "publicUrl">): void {
  const assets = readAssets(deps.assetsDir);

  function sendPage(reply: FastifyReply): FastifyReply {
    const basePath = new URL(deps.publicUrl()).pathname.replace(/\/+$/, "");
    return (
      reply
        .headers({
          "content-security-policy": policy,
          "x-content-type-options": "nosniff",
          "x-frame-options": "DENY",
          "referrer-policy": "same-origin",
          "cross-origin-opener-policy": "same-origin",
          "cache-control": "no-store",
        })
        .type("text/html; charset=utf-8")
        .code(assets ? 200 : 503)
        // The build leaves relative links, which would not hold on pages further down.
        .send(assets ? assets.page.replaceAll('"./assets/', `"${basePath}/app/assets/`) : unbuiltPage(basePath))
    );
  }

  app.get("/app", async (_request, reply) => sendPage(reply));
  app.get("/app/*", async (_request, reply) => sendPage(reply));
  app.get<{ Params: { name: string } }>("/app/assets/:name", async (request, reply) => {
    const asset = assets?.files.get(request.params.name);
    if (!asset) throw new AppError("not_found", { publicMessage: "Not found." });
    const isGzipTaken = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
    if (isGzipTaken) reply.header("content-encoding", "gzip");
    return reply
      .headers({
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        vary: "accept-encoding",
      })
      .type(asset.type)
      .send(isGzipTaken ? asset.gzipped : asset.bytes);
  });
}

/** What a checkout shows before its first build. */
function unbuiltPage(basePath: string): string {
  const home = `${basePath}/`.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Build the dashboard · Emend</title></head>
<body>
<h1>The dashboard is not built yet</h1>
<p>In the checkout that this server runs from, type this, and start the server again:</p>
<pre><code>npm run build:dashboard</code></pre>
<p>The API works without it, and so do the <a href="${home}">pull requests of the local forge</a>.</p>
</body>
</html>
`;
}
