import { createJobOperation, messageJobOperation } from "@emend/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { allowedModels } from "../../accounts/projects/project-settings.ts";
import type { Project } from "../../accounts/projects/projects.ts";
import type { Queryable } from "../../db/pool.ts";
import type { AnnounceDue } from "../../jobs/announce-due.ts";
import { type CreateJobOutcome, createJob } from "../../jobs/create-job.ts";
import { type MessageJobDeps, messageJob, messageQuota } from "../../jobs/message-job.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { noteJob } from "../../lib/request-id.ts";
import { jobNotFound, type Refusal, refuse, retryAfter } from "../errors.ts";
import { createJobRules, parseCreateBody, parseIdempotencyKey } from "../parse-create-body.ts";
import { takeBody } from "../request-body.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { rateLimitHeaders } from "../send-json.ts";
import { sendJob } from "./send-job.ts";

interface CreateJobRouteDeps extends RequireKeyDeps {
  db: Queryable;
  announceDue: AnnounceDue;
  publicUrl: () => string;
  defaultModel: string;
  promptCodePointsMax: number;
}

export function createJobRoute(app: FastifyInstance, deps: CreateJobRouteDeps): void {
  app.post<{ Params: { projectId: string } }>(
    "/v2/agent/:projectId/job",
    {
      schema: createJobOperation,
      onRequest: requireKey(deps, { scope: "write", project: "loaded" }),
      preParsing: takeBody,
    },
    async (request, reply) => {
      const project = request.project as Project;
      const models = allowedModels(project.settings, deps.defaultModel);
      const body = parseCreateBody(request.body, { promptCodePointsMax: deps.promptCodePointsMax, models });
      const outcome = await createJob(deps, createJobRules(project, models[0]), {
        projectId: project.id,
        prompt: body.prompt,
        baseRef: body.baseRef ?? null,
        model: body.model ?? null,
        draft: body.draft ?? null,
        maxCostUsd: body.maxCostUsd ?? null,
        preview: body.preview ?? false,
        createdBy: `key/${request.grant?.keyId}`,
        idempotencyKey: parseIdempotencyKey(request.headers["idempotency-key"]),
      });
      if ("jobId" in outcome) noteJob(request.raw, outcome.jobId);
      return answer(reply, outcome, `${deps.publicUrl()}/v2/agent/${project.id}/job`);
    },
  );
}

export const keyReused: Refusal = {
  code: "conflict",
  message: "This Idempotency-Key was used with a different body. Use a new key.",
};

function answer(reply: FastifyReply, outcome: CreateJobOutcome, jobsUrl: string): FastifyReply {
  switch (outcome.kind) {
    case "conflict":
      return refuse(reply, keyReused);
    case "limited":
      return refuse(reply, {
        code: "rate_limited",
        message: `This project reached its limit of ${outcome.quota.usesMax} jobs per hour.`,
        headers: { ...rateLimitHeaders("create", outcome.quota), ...retryAfter(outcome.quota.freesInMs) },
      });
    case "replayed":
    case "created":
      if (outcome.kind === "replayed") reply.header("idempotent-replayed", "true");
      reply.code(201).headers(rateLimitHeaders("create", outcome.quota));
      reply.header("content-type", "application/json; charset=utf-8");
      reply.header("cache-control", "no-store");
      reply.header("location", `${jobsUrl}/${outcome.jobId}`);
      return reply.send(outcome.body);
    default:
      return assertNever(outcome);
  }
}

interface MessageJobRouteDeps extends RequireKeyDeps, MessageJobDeps {
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
        idempotencyKey: parseIdempotencyKey(request.headers["idempotency-key"]),
      });
      switch (outcome.kind) {
        case "accepted":
        case "replayed": {
          const headers = rateLimitHeaders("message", outcome.quota);
          if (outcome.kind === "replayed") headers["idempotent-replayed"] = "true";
          return sendJob(reply, outcome.job, Object.entries(headers).flat());
        }
        case "conflict":
          return refuse(reply, keyReused);
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
