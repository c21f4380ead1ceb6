import { cancelJobOperation } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Pool } from "../../db/pool.ts";
import { cancelJob } from "../../jobs/cancel-job.ts";
import type { JobReader } from "../../jobs/job-reader.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { jobNotFound, jobPublishing, refuse } from "../refuse.ts";
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
