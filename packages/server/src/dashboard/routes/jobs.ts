import type { FastifyInstance } from "fastify";
import { allowedModels } from "../../accounts/project-settings.ts";
import { AppError } from "../../errors.ts";
import { createJobRules } from "../../http/create-job-rules.ts";
import { parseCreateBody } from "../../http/parse-create-body.ts";
import { createJob } from "../../jobs/create-job.ts";
import { noteJob } from "../../lib/request-id.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find-project.ts";
import { listJobs } from "../list-jobs.ts";
import { parseJobFilter } from "../parse-job-filter.ts";
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
