import type { FastifyInstance } from "fastify";
import { AppError } from "../../errors.ts";
import { parseCreateBody } from "../../http/parse-create-body.ts";
import { messageRefusals, promptOf } from "../../http/routes/message-job.ts";
import { messageJob, messageQuota } from "../../jobs/message-job.ts";
import { assertNever } from "../../lib/assert-never.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findJob } from "../find-job.ts";
import { subjectOf } from "../require-session.ts";

/** A follow-up, by the rules of the API's. */
export function messageJobRoute(app: FastifyInstance, deps: RouteDeps): void {
  app.post<{ Params: { id: string } }>("/jobs/:id/message", async (request) => {
    const job = await findJob(deps.pool, request.params.id);
    const { prompt } = parseCreateBody(promptOf(request.body), {
      promptCodePointsMax: deps.promptCodePointsMax,
      models: [],
    });
    const message = { ...job, prompt, createdBy: `user/${subjectOf(request)}` };
    const outcome = await messageJob(deps, messageQuota, message);
    switch (outcome.kind) {
      case "accepted":
        return {};
      case "unknown_job":
        throw new AppError("not_found", { publicMessage: "Job not found." });
      case "refused":
        throw new AppError("conflict", { publicMessage: messageRefusals[outcome.because] });
      case "limited":
        throw new AppError("rate_limited", {
          publicMessage: `This project reached its limit of ${outcome.quota.usesMax} messages per hour.`,
          retryAfterMs: outcome.quota.freesInMs,
        });
      default:
        return assertNever(outcome);
    }
  });
}
