import { getJobOperation } from "@emend/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { authenticateKey } from "../../accounts/authenticate-key.ts";
import type { JobReader } from "../../jobs/job-reader.ts";
import type { WireJob } from "../../jobs/wire-job.ts";
import { disconnectSignal } from "../disconnect-signal.ts";
import { matchesEtag } from "../matches-etag.ts";
import { preferredWaitSeconds } from "../prefer-wait.ts";
import { jobNotFound, refuse, unauthorized } from "../refuse.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJob } from "./send-job.ts";

/** A good pause between two polls of an active job. */
const pollSeconds = "2";

interface Params {
  projectId: string;
  id: string;
}

export function getJobRoute(app: FastifyInstance, deps: RequireKeyDeps & { reader: JobReader }): void {
  app.get<{ Params: Params }>(
    "/v2/agent/:projectId/job/:id",
    { schema: getJobOperation, onRequest: requireKey(deps, { scope: "read" }) },
    (request, reply) => {
      if (request.headers.prefer !== undefined) return answerLater(request, reply);
      const job = deps.reader.read(request.params.id);
      if (job instanceof Promise) return job.then((found) => answer(request, reply, found));
      return answer(request, reply, job);
    },
  );

  /** Holds the answer while the job is active and the client has seen it as it is. */
  async function answerLater(request: FastifyRequest<{ Params: Params }>, reply: FastifyReply): Promise<FastifyReply> {
    const seconds = preferredWaitSeconds(request.headers.prefer);
    if (seconds !== null) reply.header("preference-applied", `wait=${seconds}`);
    const seen = request.headers["if-none-match"];
    const job = await deps.reader.readUntil(
      request.params.id,
      (found) => !found?.isActive || !belongs(found, request) || (seen !== undefined && !matchesEtag(seen, found.etag)),
      { untilMs: performance.now() + (seconds ?? 0) * 1000, signal: disconnectSignal(reply) },
    );
    // The key may have been revoked while the answer was held.
    if (seconds !== null && (await authenticateKey(deps.keyring, request)) === null) return refuse(reply, unauthorized);
    return answer(request, reply, job);
  }
}

function answer(
  request: FastifyRequest<{ Params: Params }>,
  reply: FastifyReply,
  job: WireJob | undefined,
): FastifyReply {
  if (job === undefined || !belongs(job, request)) return refuse(reply, jobNotFound);
  if (job.isActive) reply.header("retry-after", pollSeconds);
  if (!matchesEtag(request.headers["if-none-match"], job.etag)) return sendJob(reply, job);
  return reply.code(304).header("cache-control", "no-store").header("etag", job.etag).send();
}

function belongs(job: WireJob, request: FastifyRequest<{ Params: Params }>): boolean {
  return job.projectId === request.params.projectId;
}
