import { archiveJobOperation } from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Pool } from "../../db/pool.ts";
import { archiveJob } from "../../jobs/archive-job.ts";
import type { JobReader } from "../../jobs/job-reader.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { disconnectSignal } from "../disconnect-signal.ts";
import { jobNotFound, refuse, retryAfter } from "../refuse.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJob } from "./send-job.ts";

export interface ArchiveJobRouteDeps extends RequireKeyDeps {
  pool: Pool;
  reader: JobReader;
  /** How long an answer waits for a publication's outcome. */
  publishingWaitMs: number;
}

/** To be given a scope of its own: here a body, of whatever type, is left unread. */
export function archiveJobRoute(app: FastifyInstance, deps: ArchiveJobRouteDeps): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request: FastifyRequest, _payload: unknown, done: (error: null) => void) =>
    done(null),
  );
  app.post<{ Params: { projectId: string; id: string } }>(
    "/v2/agent/:projectId/job/:id/archive",
    {
      schema: archiveJobOperation,
      onRequest: requireKey(deps, { scope: "write" }),
      preParsing(request, _reply, payload, done) {
        // One that makes no sense would be refused before the parser is chosen.
        delete request.raw.headers["content-type"];
        done(null, payload);
      },
    },
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
          return refuse(reply, {
            code: "conflict",
            message: "The job is being published; its outcome is not known yet.",
            headers: retryAfter(5000),
          });
        default:
          return assertNever(outcome);
      }
    },
  );
}
