import type { FastifyInstance, FastifyReply } from "fastify";
import { disconnectSignal } from "../../http/disconnect-signal.ts";
import { jobNotFound, jobPublishing, refuse } from "../../http/refuse.ts";
import { retryRefusal } from "../../http/routes/retry-job.ts";
import { archiveJob } from "../../jobs/archive-job.ts";
import { cancelJob } from "../../jobs/cancel-job.ts";
import { retryJob } from "../../jobs/retry-job.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findJob } from "../find-job.ts";

const publishingWaitMs = 30_000;

export function jobActionRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.post<{ Params: { id: string } }>("/jobs/:id/cancel", async (request, reply) => {
    const outcome = await cancelJob(deps, await findJob(deps.pool, request.params.id));
    return answer(reply, outcome.kind);
  });

  app.post<{ Params: { id: string } }>("/jobs/:id/retry", async (request, reply) => {
    const outcome = await retryJob(deps, await findJob(deps.pool, request.params.id));
    if (outcome.kind === "refused") return refuse(reply, retryRefusal(outcome.because));
    return answer(reply, outcome.kind);
  });

  app.post<{ Params: { id: string } }>("/jobs/:id/archive", async (request, reply) => {
    const options = { waitMs: deps.publishingWaitMs ?? publishingWaitMs, signal: disconnectSignal(reply) };
    const outcome = await archiveJob(deps, await findJob(deps.pool, request.params.id), options);
    return answer(reply, outcome.kind);
  });
}

function answer(
  reply: FastifyReply,
  kind: "final" | "active" | "archived" | "unknown_job" | "publishing",
): FastifyReply {
  if (kind === "unknown_job") return refuse(reply, jobNotFound);
  return kind === "publishing" ? refuse(reply, jobPublishing) : reply.send({});
}
