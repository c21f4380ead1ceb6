import type { QuotaState } from "../jobs/create-job.ts";

/** The quota in the words of the IETF draft, and in those that older clients know. */
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
