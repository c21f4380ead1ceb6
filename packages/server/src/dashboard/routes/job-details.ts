import type { DashboardFile, DashboardJob, DashboardStep } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../errors.ts";
import { readEditedFile, readRun, readStep } from "../../jobs/read/run-report.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findJob, findProject, showStep } from "../find.ts";
import { readRequest } from "../parse-request.ts";

type Identified = { Params: { id: string } };
const previewBytesMax = 1024 * 1024;

/** Everything that is known about one job. */
export function jobDetailRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get<Identified>("/jobs/:id", async (request): Promise<DashboardJob> => {
    const job = await findJob(deps.pool, request.params.id);
    const [run, { used, ...asked }, { settings }] = await Promise.all([
      readRun(deps.pool, job),
      readRequest(deps.pool, job.id),
      findProject(deps.pool, job.projectId),
    ]);
    const { stepsMax, tokensMax, costUsdMax, wallTimeMsMax } = settings.limits;
    const budget = {
      steps: { used: used.steps, max: stepsMax },
      tokens: { used: used.tokens, max: tokensMax },
      costUsd: { used: used.costUsd, max: Math.min(costUsdMax, asked.options.maxCostUsd ?? costUsdMax) },
      ms: { used: used.ms, max: wallTimeMsMax },
    };
    if (run) return { projectId: job.projectId, run, ...asked, budget };
    throw notFound("Job not found.");
  });

  app.get<{ Params: { id: string; number: string } }>(
    "/jobs/:id/steps/:number",
    async (request): Promise<DashboardStep> => {
      const { id } = await findJob(deps.pool, request.params.id);
      const { number } = request.params;
      const messages = /^[1-9]\d{0,5}$/.test(number) ? await readStep(deps.pool, id, Number(number)) : null;
      if (messages?.length) return showStep(messages);
      throw notFound("What this step said is kept no more.");
    },
  );

  app.get<Identified & { Querystring: Record<string, unknown> }>(
    "/jobs/:id/file",
    async (request): Promise<DashboardFile> => {
      const { id } = await findJob(deps.pool, request.params.id);
      const { path } = request.query;
      const isPath = typeof path === "string" && path.length <= 4096 && !path.includes("\0");
      const content = isPath ? await readEditedFile(deps.pool, id, path) : null;
      if (!content) throw notFound("The page's whole text is kept no more.");
      if (content.length > previewBytesMax) throw notFound("This page is too large to be shown whole.");
      return { text: content.toString("utf8") };
    },
  );
}

function notFound(publicMessage: string): AppError {
  return new AppError("not_found", { publicMessage });
}
