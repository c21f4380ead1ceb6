import fastify, { type FastifyInstance, type FastifyPluginAsync } from "fastify";
import type { Keyring } from "../accounts/keyring.ts";
import { createProjects } from "../accounts/projects.ts";
import type { Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import { createAnnounceDue } from "../jobs/announce-due.ts";
import { createJobReader } from "../jobs/job-reader.ts";
import type { MessageJobDeps } from "../jobs/message-job.ts";
import type { Logger } from "../lib/logger.ts";
import { answerClientError } from "./client-error.ts";
import { createErrorHandler } from "./error-handler.ts";
import { createHttpServer } from "./http-server.ts";
import { readJsonBodies } from "./json-body.ts";
import { describeRoutes } from "./openapi.ts";
import { serveReference } from "./reference.ts";
import "./request-context.ts";
import { createSeats, type SeatBounds } from "../lib/seats.ts";
import { archiveJobRoute } from "./routes/archive-job.ts";
import { cancelJobRoute } from "./routes/cancel-job.ts";
import { createJobRoute } from "./routes/create-job.ts";
import { getJobRoute } from "./routes/get-job.ts";
import { getJobDiffRoute } from "./routes/get-job-diff.ts";
import { getJobRunRoute } from "./routes/get-job-run.ts";
import { healthRoutes } from "./routes/health.ts";
import { listJobsRoute } from "./routes/list-jobs.ts";
import { messageJobRoute } from "./routes/message-job.ts";
import { openapiRoute } from "./routes/openapi.ts";
import { retryJobRoute } from "./routes/retry-job.ts";
import { type StreamTimes, streamJobEventsRoute, streamTimes } from "./routes/stream-job-events.ts";
import { leaveBodiesUnread } from "./unread-body.ts";
import { createUnrouted } from "./unrouted.ts";

export interface AppDeps {
  pool: Pool;
  listener: Listener;
  keyring: Keyring;
  log: Logger;
  /** Where clients reach this installation, without a trailing slash; asked for once requests arrive. */
  publicUrl: () => string;
  trustProxy: boolean | string;
  promptCodePointsMax: number;
  /** The model of projects that name none. */
  defaultModel: string;
  /** How a pull request stands on its forge by now; absent: as it was stored. */
  pullRequestState?: MessageJobDeps["pullRequestState"];
  /** How long archiving waits for a publication's outcome. */
  publishingWaitMs?: number;
  /** Of event streams, where not the usual ones. */
  streams?: Partial<StreamTimes> & { seats?: SeatBounds };
  /** Further routes, each with its own parsers and hooks. */
  plugins?: readonly FastifyPluginAsync[];
}

const bodyBytesMax = 2 * 1024 * 1024;

/** The HTTP interface, ready to listen. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const unrouted = createUnrouted(deps);
  const handleError = createErrorHandler(deps);
  const app = fastify({
    logger: false,
    trustProxy: deps.trustProxy,
    bodyLimit: bodyBytesMax,
    // The framework's own 503 has a body of another form; what still arrives on an open connection is answered.
    return503OnClosing: false,
    serverFactory: (handler) => createHttpServer(handler, deps.publicUrl),
    routerOptions: {
      ignoreTrailingSlash: true,
      // Longer than any header line can be: over-long ids reach their route, and are not found there.
      maxParamLength: 65_536,
    },
    // A path that cannot be decoded.
    frameworkErrors(_error, request, reply) {
      unrouted.answer(request, reply).catch((error) => handleError(error, request, reply));
    },
    clientErrorHandler: answerClientError,
  });
  app.setErrorHandler(handleError);
  app.removeAllContentTypeParsers();
  app.decorateRequest("grant", null);
  app.decorateRequest("project", null);
  unrouted.watch(app);
  // Before a body is read or its type looked at, which would be refused first; the types leave this hook out.
  const beforeBody = { onRequest: unrouted.answer } as object;
  app.setNotFoundHandler(beforeBody, unrouted.answer);
  describeRoutes(app, deps);
  app.register(async (scope) => addJobRoutes(scope, deps));
  app.register(async (scope) => {
    openapiRoute(scope, deps);
    healthRoutes(scope, { db: deps.pool });
    serveReference(scope);
  });
  for (const plugin of deps.plugins ?? []) app.register(plugin);
  return app;
}

function addJobRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { pool, listener, log } = deps;
  const reader = createJobReader({ pool, listener });
  const projects = createProjects({ pool, listener });
  app.addHook("preClose", async () => reader.close());
  app.addHook("onClose", async () => projects.close());
  readJsonBodies(app);
  // Bodies are judged by their routes and answers are sent as text; the schemas are for the document.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);

  const shared = { keyring: deps.keyring, projects, pool, db: pool, reader };
  createJobRoute(app, { ...shared, ...deps, announceDue: createAnnounceDue({ db: pool, log }) });
  messageJobRoute(app, { ...shared, ...deps, pullRequestState: deps.pullRequestState ?? (async () => null) });
  getJobRoute(app, { ...shared, seats: createSeats(deps.streams?.seats) });
  listJobsRoute(app, shared);
  getJobRunRoute(app, shared);
  getJobDiffRoute(app, shared);
  const { seats, ...times } = deps.streams ?? {};
  streamJobEventsRoute(app, { ...shared, log, times: { ...streamTimes, ...times }, seats: createSeats(seats) });
  app.register(async (scope) => {
    leaveBodiesUnread(scope);
    archiveJobRoute(scope, { ...shared, publishingWaitMs: deps.publishingWaitMs ?? 30_000 });
    cancelJobRoute(scope, shared);
    retryJobRoute(scope, shared);
  });
}
