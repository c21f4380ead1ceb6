import type { FastifyInstance } from "fastify";
import { createAnnounceDue } from "../jobs/announce-due.ts";
import { createJobReader } from "../jobs/job-reader.ts";
import { appRoutes } from "./app-routes.ts";
import type { DashboardDeps } from "./dashboard.ts";
import { readBodies } from "./read-bodies.ts";
import { requireSession } from "./require-session.ts";
import { automationRoutes } from "./routes/automations.ts";
import { composeJobRoutes } from "./routes/compose-job.ts";
import { healthRoutes } from "./routes/health.ts";
import { jobActionRoutes } from "./routes/job-actions.ts";
import { jobDetailRoutes } from "./routes/job-details.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { keyRoutes } from "./routes/keys.ts";
import { messageJobRoute } from "./routes/message-job.ts";
import { projectConnectionRoutes } from "./routes/project-connection.ts";
import { projectContextRoutes } from "./routes/project-context.ts";
import { projectWebhookRoutes } from "./routes/project-webhooks.ts";
import { projectRoutes } from "./routes/projects.ts";
import { pullRoutes } from "./routes/pulls.ts";
import { sessionRoute } from "./routes/session.ts";
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
