import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const id = Symbol("requestId");
const job = Symbol("jobId");

/** Records the job that a request created, for the log. */
export function noteJob(request: IncomingMessage & { [job]?: string }, jobId: string): void {
  request[job] = jobId;
}

export function notedJob(request: IncomingMessage & { [job]?: string }): string | undefined {
  return request[job];
}

/** One id for all log lines of a request and for its response: the caller's `X-Request-Id` if it is usable. */
export function requestId(request: IncomingMessage & { [id]?: string }): string {
  if (request[id] === undefined) {
    const given = request.headers["x-request-id"];
    const isUsable = typeof given === "string" && /^[\w.:-]{1,128}$/.test(given);
    request[id] = isUsable ? given : `req_${randomUUID()}`;
  }
  return request[id];
}
