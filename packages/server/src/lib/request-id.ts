import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const id = Symbol("requestId");
const job = Symbol("jobId");

/** Says which job a request turned out to be about, where its path does not: the one that it made. */
export function noteJob(request: IncomingMessage & { [job]?: string }, jobId: string): void {
  request[job] = jobId;
}

export function notedJob(request: IncomingMessage & { [job]?: string }): string | undefined {
  return request[job];
}

/** One id for all that is logged about a request, and on its answer: the caller's `X-Request-Id` where it sent a usable one. */
export function requestId(request: IncomingMessage & { [id]?: string }): string {
  if (request[id] === undefined) {
    const given = request.headers["x-request-id"];
    const isUsable = typeof given === "string" && /^[\w.:-]{1,128}$/.test(given);
    request[id] = isUsable ? given : `req_${randomUUID()}`;
  }
  return request[id];
}
