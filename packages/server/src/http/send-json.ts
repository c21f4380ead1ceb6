import { waitSecondsMax } from "@emend/contract";
import type { FastifyReply } from "fastify";
import type { QuotaState } from "../jobs/create-job.ts";

/** Sends serialized JSON that must not be cached. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  reply.header("content-type", "application/json; charset=utf-8");
  reply.header("cache-control", "no-store");
  return reply.send(text);
}

/** Whether `If-None-Match` names this tag: weakly compared, in a list, or `*` (RFC 9110). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header === "*") return true;
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

/** The quota in the IETF draft's headers, and in those that older clients know. */
export function rateLimitHeaders(policy: "create" | "message", quota: QuotaState): Record<string, string> {
  const windowSeconds = quota.windowMs / 1000;
  return {
    "ratelimit-policy": `"${policy}";q=${quota.usesMax};w=${windowSeconds}`,
    ratelimit: `"${policy}";r=${quota.usesLeft};t=${Math.ceil(quota.freesInMs / 1000)}`,
    "x-ratelimit-limit": String(quota.usesMax),
    "x-ratelimit-remaining": String(quota.usesLeft),
    "x-ratelimit-reset": String(Math.ceil(quota.freesAt.getTime() / 1000)),
  };
}

/** The granted seconds of `Prefer: wait=N` (RFC 7240). Null if absent or invalid. */
export function preferredWaitSeconds(header: string | string[] | undefined): number | null {
  if (header === undefined) return null;
  for (const preference of [header].flat().join(",").split(",")) {
    const match = /^\s*wait\s*=\s*(?:"(\d+)"|(\d+))\s*(?:;|$)/i.exec(preference);
    // The first one counts.
    if (match) return Math.min(waitSecondsMax, Number(match[1] ?? match[2]));
  }
  return null;
}
