import type { DashboardReading } from "@emend/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Type } from "typebox";
import { allowedModels } from "../../accounts/projects/project-settings.ts";
import { AppError } from "../../errors.ts";
import { disconnectSignal } from "../../http/disconnect-signal.ts";
import { jobNotFound, jobPublishing, refuse } from "../../http/errors.ts";
import { createJobRules, parseCreateBody } from "../../http/parse-create-body.ts";
import { retryRefusal } from "../../http/routes/end-job.ts";
import { keyReused, messageRefusals, promptOf } from "../../http/routes/start-job.ts";
import { createJob } from "../../jobs/create-job.ts";
import { archiveJob, cancelJob, retryJob } from "../../jobs/job-actions.ts";
import { messageJob, messageQuota } from "../../jobs/message-job.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { noteJob } from "../../lib/request-id.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findJob, findProject } from "../find.ts";
import { listJobs } from "../list-jobs.ts";
import { bodyParser, parseJobFilter } from "../parse-request.ts";
import { subjectOf } from "../require-session.ts";

export function jobRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get("/jobs", async (request) => listJobs(deps.pool, parseJobFilter(request.query as Record<string, unknown>)));

  app.post<{ Params: { projectId: string } }>("/projects/:projectId/jobs", async (request, reply) => {
    const project = await findProject(deps.pool, request.params.projectId);
    const models = allowedModels(project.settings, deps.defaultModel);
    const body = parseCreateBody(request.body, { promptCodePointsMax: deps.promptCodePointsMax, models });
    const outcome = await createJob(
      { db: deps.pool, announceDue: deps.announceDue },
      createJobRules(project, models[0]),
      {
        projectId: project.id,
        prompt: body.prompt,
        baseRef: body.baseRef ?? null,
        model: body.model ?? null,
        draft: body.draft ?? null,
        maxCostUsd: body.maxCostUsd ?? null,
        preview: body.preview ?? false,
        createdBy: `user/${subjectOf(request)}`,
        idempotencyKey: null,
      },
    );
    if (outcome.kind === "created") {
      noteJob(request.raw, outcome.jobId);
      return reply.code(201).send({ id: outcome.jobId });
    }
    // Without an idempotency key nothing is replayed and nothing conflicts.
    const freesInMs = outcome.kind === "limited" ? outcome.quota.freesInMs : 0;
    throw new AppError("rate_limited", {
      publicMessage: `This project reached its limit of ${project.settings.createsPerHourMax} jobs per hour.`,
      retryAfterMs: freesInMs,
    });
  });
}

const publishingWaitMs = 30_000;

export function jobActionRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.post<{ Params: { id: string } }>("/jobs/:id/cancel", async (request, reply) => {
    const outcome = await cancelJob(deps, await findJob(deps.pool, request.params.id));
    return answer(reply, outcome.kind);
  });

  app.post<{ Params: { id: string } }>("/jobs/:id/retry", async (request, reply) => {
    const outcome = await retryJob(deps, await findJob(deps.pool, request.params.id));
    if (outcome.kind === "refused") return refuse(reply, retryRefusal(outcome.because));
    return answer(reply, outcome.kind);
  });

  app.post<{ Params: { id: string } }>("/jobs/:id/archive", async (request, reply) => {
    const options = { waitMs: deps.publishingWaitMs ?? publishingWaitMs, signal: disconnectSignal(reply) };
    const outcome = await archiveJob(deps, await findJob(deps.pool, request.params.id), options);
    return answer(reply, outcome.kind);
  });
}

function answer(
  reply: FastifyReply,
  kind: "final" | "active" | "archived" | "unknown_job" | "publishing",
): FastifyReply {
  if (kind === "unknown_job") return refuse(reply, jobNotFound);
  return kind === "publishing" ? refuse(reply, jobPublishing) : reply.send({});
}

type OfProject = { Params: { projectId: string } };
const parseReading = bodyParser(
  Type.Object({ prompt: Type.String({ maxLength: 10_000 }), model: Type.Optional(Type.String({ maxLength: 200 })) }),
);

/** What helps to write a job before there is one. */
export function composeJobRoutes(app: FastifyInstance, deps: RouteDeps): void {
  // A prompt is too long for an address; nothing is written.
  app.post<OfProject>(
    "/projects/:projectId/reading",
    { config: { role: "viewer" } },
    async (request): Promise<DashboardReading> => {
      const project = await findProject(deps.pool, request.params.projectId);
      const { prompt, model } = parseReading(request.body);
      return deps.readPrompt(model ?? allowedModels(project.settings, deps.defaultModel)[0], prompt);
    },
  );

  app.get<OfProject>("/projects/:projectId/suggestions", async (request) => {
    const { id } = await findProject(deps.pool, request.params.projectId);
    return { suggestions: await deps.suggestions(id) };
  });
}

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
      case "replayed":
        return {};
      case "conflict":
        throw new AppError("conflict", { publicMessage: keyReused.message });
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
