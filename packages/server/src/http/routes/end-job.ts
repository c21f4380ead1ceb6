import { archiveJobOperation, cancelJobOperation, retryJobOperation } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Pool } from "../../db/pool.ts";
import { archiveJob, cancelJob, type RetryOutcome, retryJob } from "../../jobs/job-actions.ts";
import type { JobReader } from "../../jobs/read/job-reader.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { disconnectSignal } from "../disconnect-signal.ts";
import { jobNotFound, jobPublishing, type Refusal, refuse } from "../errors.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJob } from "./send-job.ts";

/** In a scope that leaves bodies unread. */
export function cancelJobRoute(app: FastifyInstance, deps: RequireKeyDeps & { pool: Pool; reader: JobReader }): void {
  app.post<{ Params: { projectId: string; id: string } }>(
    "/v2/agent/:projectId/job/:id/cancel",
    { schema: cancelJobOperation, onRequest: requireKey(deps, { scope: "write" }) },
    async (request, reply) => {
      const outcome = await cancelJob(deps, request.params);
      switch (outcome.kind) {
        case "final":
          return sendJob(reply, outcome.job);
        case "unknown_job":
          return refuse(reply, jobNotFound);
        case "publishing":
          return refuse(reply, jobPublishing);
        default:
          return assertNever(outcome);
      }
    },
  );
}

interface ArchiveJobRouteDeps extends RequireKeyDeps {
  pool: Pool;
  reader: JobReader;
  /** How long an answer waits for a publication's outcome. */
  publishingWaitMs: number;
}

/** In a scope that leaves bodies unread. */
export function archiveJobRoute(app: FastifyInstance, deps: ArchiveJobRouteDeps): void {
  app.post<{ Params: { projectId: string; id: string } }>(
    "/v2/agent/:projectId/job/:id/archive",
    { schema: archiveJobOperation, onRequest: requireKey(deps, { scope: "write" }) },
    async (request, reply) => {
      const outcome = await archiveJob(deps, request.params, {
        waitMs: deps.publishingWaitMs,
        signal: disconnectSignal(reply),
      });
      switch (outcome.kind) {
        case "archived":
          return sendJob(reply, outcome.job);
        case "unknown_job":
          return refuse(reply, jobNotFound);
        case "publishing":
          return refuse(reply, jobPublishing);
        default:
          return assertNever(outcome);
      }
    },
  );
}

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
