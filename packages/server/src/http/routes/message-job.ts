import { messageJobOperation } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Project } from "../../accounts/project.ts";
import { type MessageJobDeps, messageJob, messageQuota } from "../../jobs/message-job.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { parseCreateBody } from "../parse-create-body.ts";
import { rateLimitHeaders } from "../rate-limit-headers.ts";
import { jobNotFound, refuse, retryAfter } from "../refuse.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { takeBody } from "../take-body.ts";
import { sendJob } from "./send-job.ts";

export interface MessageJobRouteDeps extends RequireKeyDeps, MessageJobDeps {
  promptCodePointsMax: number;
}

export const messageRefusals = {
  active: "The job is still active; send the message once it is final.",
  archived: "The job is archived.",
  merged: "The job's pull request is merged; create a new job.",
  closed: "The job's pull request is closed; create a new job.",
};

export function messageJobRoute(app: FastifyInstance, deps: MessageJobRouteDeps): void {
  app.post<{ Params: { projectId: string; id: string } }>(
    "/v2/agent/:projectId/job/:id/message",
    {
      schema: messageJobOperation,
      onRequest: requireKey(deps, { scope: "write", project: "loaded" }),
      preParsing: takeBody,
    },
    async (request, reply) => {
      const project = request.project as Project;
      const { prompt } = parseCreateBody(promptOf(request.body), {
        promptCodePointsMax: deps.promptCodePointsMax,
        models: [],
      });
      const outcome = await messageJob(deps, messageQuota, {
        id: request.params.id,
        projectId: project.id,
        prompt,
        createdBy: `key/${request.grant?.keyId}`,
      });
      switch (outcome.kind) {
        case "accepted":
          return sendJob(
            reply,
            outcome.job,
            Object.entries(rateLimitHeaders("message", outcome.quota)).flat().map(String),
          );
        case "unknown_job":
          return refuse(reply, jobNotFound);
        case "refused":
          return refuse(reply, { code: "conflict", message: messageRefusals[outcome.because] });
        case "limited":
          return refuse(reply, {
            code: "rate_limited",
            message: `This project reached its limit of ${outcome.quota.usesMax} messages per hour.`,
            headers: { ...rateLimitHeaders("message", outcome.quota), ...retryAfter(outcome.quota.freesInMs) },
          });
        default:
          return assertNever(outcome);
      }
    },
  );
}

/** A message has no other fields that count. */
export function promptOf(body: unknown): unknown {
  if (body === null || typeof body !== "object" || Array.isArray(body)) return body;
  return Object.hasOwn(body, "prompt") ? { prompt: (body as { prompt: unknown }).prompt } : {};
}
