import type { PriceTable } from "@emend/agent";
import { createKeyedSemaphore, type SeatBounds } from "@emend/base/locks.ts";
import type { Logger } from "@emend/base/logger.ts";
import {
  approveJobOperation,
  archiveJobOperation,
  cancelJobOperation,
  createJobOperation,
  declineJobOperation,
  getJobDiffOperation,
  listProjectsOperation,
  messageJobOperation,
  type ProjectList,
  publishJobOperation,
  retryJobOperation,
  streamJobEventsOperation,
  uploadOperation,
} from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { authenticateKey, type Keyring } from "../../accounts/keys/keyring.ts";
import { createProjects, type Project } from "../../accounts/projects/projects.ts";
import { createAutomations } from "../../automations/automation-store.ts";
import type { Listener } from "../../db/listener.ts";
import type { Pool, Queryable } from "../../db/pool.ts";
import { createAnnounceDue } from "../../jobs/announce.ts";
import type { MessageJobDeps } from "../../jobs/message-job.ts";
import { createJobReader } from "../../jobs/read/job-reader.ts";
import { refuse, unauthorized } from "../errors.ts";
import { newJobRules } from "../parse-create-body.ts";
import { leaveBodiesUnread, readJsonBodies, takeBody } from "../request-body.ts";
import { requireKey } from "../require-key.ts";
import { sendJson } from "../send-json.ts";
import { automationRoutes } from "./automations.ts";
import { claimRoutes } from "./claims.ts";
import { gateRoutes } from "./gates.ts";
import {
  answerApprovalHandler,
  createJobHandler,
  type Door,
  type JobName,
  jobActionHandler,
  type jobActions,
  jobDiffHandler,
  jobEventsHandler,
  messageJobHandler,
  type StreamTimes,
  streamTimes,
} from "./job-handlers.ts";
import { getJobRoute, getJobRunRoute, listJobsRoute, sendJob } from "./read-jobs.ts";
import { uploadRoute } from "./uploads.ts";

export interface JobRoutesDeps {
  pool: Pool;
  listener: Listener;
  keyring: Keyring;
  log: Logger;
  /** The URL for clients, without a trailing slash; read once requests arrive. */
  publicUrl: () => string;
  promptCodePointsMax: number;
  /** The model of projects that name none. */
  defaultModel: string;
  /** What the operator says about models. */
  modelPrices?: PriceTable;
  /** The pull request's current state on its forge. Absent: the stored state. */
  pullRequestState?: MessageJobDeps["pullRequestState"];
  /** Has a worker look at the project's claims; absent: it does so in its time. */
  askClaimPoll?(projectId: string): Promise<void>;
  /** Has a worker look at the pull requests of the project's repositories; absent: it does so in its time. */
  askGate?(projectId: string): Promise<void>;
  /** How long archiving waits for the outcome of a publication. */
  publishingWaitMs?: number;
  /** Overrides for event streams. */
  streams?: Partial<StreamTimes> & { seats?: SeatBounds };
}

const actions: Readonly<Record<keyof typeof jobActions, object>> = {
  archive: archiveJobOperation,
  cancel: cancelJobOperation,
  retry: retryJobOperation,
  publish: publishJobOperation,
};

/** The contract's routes, for programs with an API key. */
export function jobRoutes(app: FastifyInstance, deps: JobRoutesDeps): void {
  const { pool, listener, log, keyring } = deps;
  const reader = createJobReader({ pool, listener });
  const projects = createProjects({ pool, listener });
  app.addHook("preClose", async () => reader.close());
  app.addHook("onClose", async () => projects.close());
  readJsonBodies(app);
  // Routes validate their own bodies and send text. The schemas are only for the document. Without a validator, not even one
  // that accepts everything, the framework does not collect the parts of each request for it.
  app.setValidatorCompiler(() => undefined as never);
  app.setSerializerCompiler(() => JSON.stringify);

  const door = keyDoor(keyring);
  const shared = { keyring, projects, pool, db: pool, reader };
  const reads = requireKey(shared, { scope: "read" });
  const writes = requireKey(shared, { scope: "write" });
  const writesProject = requireKey(shared, { scope: "write", project: "loaded" });
  const job = "/v2/agent/:projectId/job";

  app.post(
    job,
    { schema: createJobOperation, onRequest: writesProject, preParsing: takeBody },
    createJobHandler({ ...deps, announceDue: createAnnounceDue({ db: pool, log }) }, door),
  );
  const messages = { ...shared, ...deps, pullRequestState: deps.pullRequestState ?? (async () => null) };
  app.post(
    `${job}/:id/message`,
    { schema: messageJobOperation, onRequest: writesProject, preParsing: takeBody },
    messageJobHandler(messages, door),
  );
  uploadRoute(app, "/v2/agent/:projectId/upload", { schema: uploadOperation, onRequest: writesProject }, deps, door);
  getJobRoute(app, { ...shared, seats: createKeyedSemaphore(deps.streams?.seats) });
  listJobsRoute(app, shared);
  listProjectsRoute(app, shared);
  const announceDue = createAnnounceDue({ db: pool, log });
  const pullRequestState = deps.pullRequestState ?? (async () => null);
  const { defaultModel } = deps;
  const automations = createAutomations({ pool, log, defaultModel, announceDue, newJobRules, pullRequestState });
  automationRoutes(app, { ...shared, automations });
  claimRoutes(app, { ...shared, askClaimPoll: deps.askClaimPoll ?? (async () => {}) });
  gateRoutes(app, { ...shared, askGate: deps.askGate ?? (async () => {}) });
  getJobRunRoute(app, shared);
  app.get(`${job}/:id/diff`, { schema: getJobDiffOperation, onRequest: reads }, jobDiffHandler(shared, door));
  const { seats, ...times } = deps.streams ?? {};
  const streams = { ...shared, log, times: { ...streamTimes, ...times }, seats: createKeyedSemaphore(seats) };
  app.get(
    `${job}/:id/events`,
    { schema: streamJobEventsOperation, onRequest: reads },
    jobEventsHandler(app, streams, door),
  );
  app.post(
    `${job}/:id/approve`,
    { schema: approveJobOperation, onRequest: writes, preParsing: takeBody },
    answerApprovalHandler("approve", { pool, reader }, door),
  );
  app.register(async (scope) => {
    leaveBodiesUnread(scope);
    const decline = answerApprovalHandler("decline", { pool, reader }, door);
    scope.post(`${job}/:id/decline`, { schema: declineJobOperation, onRequest: writes }, decline);
    for (const [action, schema] of Object.entries(actions) as [keyof typeof jobActions, object][]) {
      const handler = jobActionHandler(action, { pool, reader, publishingWaitMs: deps.publishingWaitMs }, door);
      scope.post(`${job}/:id/${action}`, { schema, onRequest: writes }, handler);
    }
  });
}

function keyDoor(keyring: Keyring): Door {
  return {
    holderOf: (request) => request.grant?.keyId ?? "",
    authorOf: (request) => `key/${request.grant?.keyId}`,
    projectOf: (request) => request.project as Project,
    jobOf: (request) => request.params as JobName,
    isStillIn: async (request) => (await authenticateKey(keyring, request)) !== null,
    lastEventId: (request) => request.headers["last-event-id"],
    wantsJsonDiff,
    sendJob,
  };
}

/** Text is the default: JSON only for a client that prefers it. */
function wantsJsonDiff({ headers }: FastifyRequest): boolean {
  const types = (headers.accept ?? "").toLowerCase().split(",");
  const place = (type: string) => types.findIndex((each) => each.split(";", 1)[0]?.trim() === type);
  const [json, diff] = [place("application/json"), place("text/x-diff")];
  return json !== -1 && (diff === -1 || json < diff);
}

/** The projects of the caller's key, so that a client can find a project by name or use the only one. */
function listProjectsRoute(app: FastifyInstance, deps: { keyring: Keyring; db: Queryable }): void {
  app.get("/v2/projects", { schema: listProjectsOperation }, async (request, reply) => {
    const grant = await authenticateKey(deps.keyring, request);
    if (grant === null) return refuse(reply, unauthorized);
    const { rows } = await deps.db.query<ProjectList["projects"][number]>(
      `select id, name, repository_url as repository, base_ref as "baseRef" from projects
       where id = any ($1::text[]) order by created_at, id`,
      [[...grant.projectIds]],
    );
    return sendJson(reply, JSON.stringify({ projects: rows } satisfies ProjectList));
  });
}
