import { archiveJobOperation } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Pool } from "../../db/pool.ts";
import { archiveJob } from "../../jobs/archive-job.ts";
import type { JobReader } from "../../jobs/job-reader.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { disconnectSignal } from "../disconnect-signal.ts";
import { jobNotFound, jobPublishing, refuse } from "../refuse.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJob } from "./send-job.ts";

export interface ArchiveJobRouteDeps extends RequireKeyDeps {
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
