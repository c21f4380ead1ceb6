import { retryJobOperation } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Pool } from "../../db/pool.ts";
import type { JobReader } from "../../jobs/job-reader.ts";
import { type RetryOutcome, retryJob } from "../../jobs/retry-job.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { jobNotFound, type Refusal, refuse } from "../refuse.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJob } from "./send-job.ts";

const words: Record<Extract<RetryOutcome, { kind: "refused" }>["because"], string> = {
  completed: "The job is completed; there is nothing to retry.",
  archived: "The job is archived.",
  needs_follow_up: "Retrying would end the same way. Send a follow-up message, or create a new job.",
  contents_dropped: "The job's work is no longer stored. Create a new job.",
};

export function retryRefusal(because: keyof typeof words): Refusal {
  return { code: "conflict", message: words[because] };
}

/** In a scope that leaves bodies unread. */
export function retryJobRoute(app: FastifyInstance, deps: RequireKeyDeps & { pool: Pool; reader: JobReader }): void {
  app.post<{ Params: { projectId: string; id: string } }>(
    "/v2/agent/:projectId/job/:id/retry",
    { schema: retryJobOperation, onRequest: requireKey(deps, { scope: "write" }) },
    async (request, reply) => {
      const outcome = await retryJob(deps, request.params);
      switch (outcome.kind) {
        case "active":
          return sendJob(reply, outcome.job);
        case "unknown_job":
          return refuse(reply, jobNotFound);
        case "refused":
          return refuse(reply, retryRefusal(outcome.because));
        default:
          return assertNever(outcome);
      }
    },
  );
}
