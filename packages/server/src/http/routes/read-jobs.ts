import type { KeyedSemaphore } from "@emend/base/locks.ts";
import {
  getJobOperation,
  getJobRunOperation,
  type JobStatus,
  jobStatuses,
  jobsPerPage,
  jobsPerPageMax,
  listJobsOperation,
} from "@emend/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { authenticateKey } from "../../accounts/keys/keyring.ts";
import type { Queryable } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import type { JobReader } from "../../jobs/read/job-reader.ts";
import { fromCursor, listJobs, toCursor } from "../../jobs/read/job-reader.ts";
import { readRun } from "../../jobs/read/run-report.ts";
import type { WireJob } from "../../jobs/wire-job.ts";
import { requestId } from "../../lib/id.ts";
import { jobNotFound, refuse, unauthorized } from "../errors.ts";
import { disconnectSignal } from "../event-stream.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { matchesEtag, preferredWaitSeconds, sendJson } from "../send-json.ts";

type JobRequest = FastifyRequest<{ Params: { projectId: string; id: string } }>;

export function getJobRoute(
  app: FastifyInstance,
  deps: RequireKeyDeps & { reader: JobReader; seats: KeyedSemaphore },
): void {
  app.get<{ Params: JobRequest["params"] }>(
    "/v2/agent/:projectId/job/:id",
    { schema: getJobOperation, onRequest: requireKey(deps, { scope: "read" }) },
    (request, reply) => {
      if (request.headers.prefer !== undefined) return answerLater(request, reply);
      const job = deps.reader.read(request.params.id);
      if (job instanceof Promise) return job.then((found) => answer(request, reply, own(found, request)));
      return answer(request, reply, own(job, request));
    },
  );

  /** Long poll: holds the response while the job is active and the client has its current state. */
  async function answerLater(request: JobRequest, reply: FastifyReply): Promise<FastifyReply> {
    const preferred = preferredWaitSeconds(request.headers.prefer);
    // `Prefer: wait` is optional: without a free slot the response is immediate.
    const leave = preferred === null ? null : deps.seats.take(request.grant?.keyId ?? "");
    const seconds = leave === null ? null : preferred;
    const seen = request.headers["if-none-match"];
    const isEnough = (found: WireJob | undefined) => {
      const job = own(found, request);
      return !job?.isActive || (seen !== undefined && !matchesEtag(seen, job.etag));
    };
    const until = { untilMs: performance.now() + (seconds ?? 0) * 1000, signal: disconnectSignal(reply) };
    const found = await deps.reader.readUntil(request.params.id, isEnough, until).finally(leave);
    if (seconds === null) return answer(request, reply, own(found, request));
    // The key may have been revoked while the response was held.
    if ((await authenticateKey(deps.keyring, request)) === null) return refuse(reply, unauthorized);
    return answer(request, reply, own(found, request), seconds);
  }
}

/** Another project's job does not exist for this caller. */
function own(job: WireJob | undefined, request: JobRequest): WireJob | undefined {
  return job?.projectId === request.params.projectId ? job : undefined;
}

function answer(
  request: JobRequest,
  reply: FastifyReply,
  job: WireJob | undefined,
  waitedSecondsMax?: number,
): FastifyReply {
  if (job === undefined) return refuse(reply, jobNotFound);
  if (!matchesEtag(request.headers["if-none-match"], job.etag)) {
    return sendJob(
      reply,
      job,
      waitedSecondsMax === undefined ? [] : ["preference-applied", `wait=${waitedSecondsMax}`],
    );
  }
  if (job.isActive) reply.header("retry-after", pollSeconds);
  if (waitedSecondsMax !== undefined) reply.header("preference-applied", `wait=${waitedSecondsMax}`);
  return reply.code(304).header("cache-control", "no-store").header("etag", job.etag).send();
}

export function listJobsRoute(app: FastifyInstance, deps: RequireKeyDeps & { db: Queryable }): void {
  app.get<{ Params: { projectId: string } }>(
    "/v2/agent/:projectId/jobs",
    { schema: listJobsOperation, onRequest: requireKey(deps, { scope: "read" }) },
    async (request, reply) => {
      const { projectId } = request.params;
      const query = parseListQuery(projectId, request.query as Record<string, unknown>);
      const page = await listJobs(deps.db, projectId, query);
      const nextCursor = page.next && toCursor({ projectId, status: query.status }, page.next);
      // The jobs are already serialized.
      return sendJson(reply, `{"jobs":[${page.jobs.join(",")}],"nextCursor":${JSON.stringify(nextCursor)}}`);
    },
  );
}

export function getJobRunRoute(app: FastifyInstance, deps: RequireKeyDeps & { db: Queryable }): void {
  app.get<{ Params: { projectId: string; id: string } }>(
    "/v2/agent/:projectId/job/:id/run",
    { schema: getJobRunOperation, onRequest: requireKey(deps, { scope: "read" }) },
    async (request, reply) => {
      const run = await readRun(deps.db, request.params);
      return run === null ? refuse(reply, jobNotFound) : sendJson(reply, JSON.stringify(run));
    },
  );
}

interface ListQuery {
  status: JobStatus | null;
  limit: number;
  before: string | null;
}

/** Validates a listing's query. Unknown parameters are ignored. */
function parseListQuery(projectId: string, query: Record<string, unknown>): ListQuery {
  const status = parseStatus(query.status);
  return { status, limit: parseLimit(query.limit), before: parseCursor({ projectId, status }, query.cursor) };
}

function parseStatus(given: unknown): JobStatus | null {
  if (given === undefined) return null;
  const status = jobStatuses.find((known) => known === given);
  if (status === undefined) throw invalid(`status must be one of ${jobStatuses.join(", ")}.`);
  return status;
}

function parseLimit(given: unknown): number {
  if (given === undefined) return jobsPerPage;
  const limit = typeof given === "string" && /^[0-9]{1,3}$/.test(given) ? Number(given) : 0;
  if (limit < 1 || limit > jobsPerPageMax) throw invalid(`limit must be a number from 1 to ${jobsPerPageMax}.`);
  return limit;
}

function parseCursor(listing: { projectId: string; status: JobStatus | null }, given: unknown): string | null {
  if (given === undefined) return null;
  const before = typeof given === "string" ? fromCursor(listing, given) : null;
  if (before === null) throw invalid("cursor is not valid for this list.");
  return before;
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

/** The recommended seconds between two polls of an active job. */
const pollSeconds = "2";

/**
 * Sends a job with its headers. Bypasses the framework, whose way of sending a ready text costs a tenth of the requests
 * per second. For HEAD, Node sends no body.
 */
export function sendJob(reply: FastifyReply, job: WireJob, moreHeaders: readonly string[] = []): FastifyReply {
  const headers = [
    "content-type",
    "application/json; charset=utf-8",
    "cache-control",
    "no-store",
    "etag",
    job.etag,
    "content-length",
    job.contentLength,
    "x-request-id",
    requestId(reply.request.raw),
    ...moreHeaders,
  ];
  if (job.isActive) headers.push("retry-after", pollSeconds);
  reply.hijack();
  reply.raw.writeHead(200, headers);
  // Node joins head and body and writes them at once; ASCII needs no conversion to UTF-8.
  reply.raw.end(job.body, job.isAscii ? "latin1" : "utf8");
  return reply;
}
