import type { FastifyRequest } from "fastify";
import { notedJob, requestId } from "../lib/request-id.ts";

const idLengthMax = 64;

/** What every log line about a request says of it. Its path may be anything that a client wrote; its route is ours. */
export function aboutRequest(request: FastifyRequest): Record<string, string | undefined> {
  const { projectId, id } = (request.params ?? {}) as { projectId?: string; id?: string };
  const isOfJob = request.routeOptions.url?.includes("/job") === true;
  return {
    requestId: requestId(request.raw),
    method: request.method,
    route: request.routeOptions.url,
    projectId: projectId?.slice(0, idLengthMax),
    jobId: (isOfJob ? id?.slice(0, idLengthMax) : undefined) ?? notedJob(request.raw),
  };
}
