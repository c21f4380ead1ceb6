import type { RequestErrorCode } from "@emend/contract";
import type { FastifyReply } from "fastify";
import { errorStatus } from "./error-status.ts";

export interface Refusal {
  code: RequestErrorCode;
  message: string;
  /** Beyond those that every refusal has. */
  headers?: Readonly<Record<string, string>>;
}

/** One body for every reason, so that nobody learns which keys exist. */
export const unauthorized: Refusal = {
  code: "unauthorized",
  message: "A valid admin API key is required: Authorization: Bearer <key>.",
  headers: { "www-authenticate": "Bearer" },
};
/** The same for a project that does not exist and one that the key does not cover. */
export const projectNotFound: Refusal = { code: "not_found", message: "Project not found." };
export const jobNotFound: Refusal = { code: "not_found", message: "Job not found." };
export const jobPublishing: Refusal = {
  code: "conflict",
  message: "The job is being published. Try again when it has ended.",
  headers: { "retry-after": "5" },
};
export const tooManyStreams: Refusal = {
  code: "rate_limited",
  message: "Too many open event streams. Close some, or poll the job instead.",
  headers: { "retry-after": "10" },
};
export const tooManyDiffs: Refusal = {
  code: "rate_limited",
  message: "Too many large diffs at once. Read them one at a time.",
  headers: { "retry-after": "1" },
};
export const routeNotFound: Refusal = { code: "not_found", message: "Not found." };
export const readOnlyKey: Refusal = { code: "forbidden", message: "This key is read-only." };

/** The only way an error leaves: `{ "error": string }` and its code in a header. */
export function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
  reply.code(errorStatus[refusal.code]);
  reply.header("content-type", "application/json; charset=utf-8");
  reply.header("cache-control", "no-store");
  reply.header("emend-error", refusal.code);
  if (refusal.headers) reply.headers(refusal.headers);
  return reply.send(JSON.stringify({ error: refusal.message }));
}

/** `Retry-After` in whole seconds, never too early. */
export function retryAfter(ms: number): { "retry-after": string } {
  return { "retry-after": String(Math.max(1, Math.ceil(ms / 1000))) };
}
