import { createKeyedSemaphore } from "@emend/base/locks.ts";
import type { DashboardFile, DashboardJob, DashboardReading, DashboardStep } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { allowedModels } from "../../accounts/projects/project-settings.ts";
import { AppError } from "../../errors.ts";
import {
  answerApprovalHandler,
  createJobHandler,
  type Door,
  jobActionHandler,
  jobActions,
  jobDiffHandler,
  jobEventsHandler,
  messageJobHandler,
  streamTimes,
} from "../../http/routes/job-handlers.ts";
import { uploadRoute } from "../../http/routes/uploads.ts";
import { listPictures, readFrozenPage, readPicture } from "../../jobs/page-pictures.ts";
import { readEditedFile, readRun, readStep } from "../../jobs/read/run-report.ts";
import { readUpload } from "../../jobs/uploads/uploads.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findJob, findProject, showStep } from "../find.ts";
import { listJobs } from "../list-jobs.ts";
import { bodyParser, parseJobFilter, readRequest } from "../parse-request.ts";
import { subjectOf } from "../require-session.ts";

/** The API's handlers for browser sessions instead of keys. */
export function jobRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const door = sessionDoor(deps);
  app.get("/jobs", async (request) => {
    const filter = parseJobFilter(request.query as Record<string, unknown>);
    // A person who has just started a job expects it on the first page.
    return listJobs(filter.search !== null || filter.before !== null ? deps.lateReads : deps.pool, filter);
  });
  app.post("/projects/:projectId/jobs", createJobHandler(deps, door));
  app.post("/jobs/:id/message", messageJobHandler(deps, door));
  uploadRoute(app, "/projects/:projectId/uploads", {}, deps, door);
  app.get<{ Params: { projectId: string; id: string } }>("/projects/:projectId/uploads/:id", async (request, reply) => {
    const upload = await readUpload(deps.pool, request.params);
    if (!upload) throw new AppError("not_found", { publicMessage: "This file is no longer stored." });
    // Shown as what it is, and as nothing else: an upload is a stranger's bytes on the dashboard's own origin.
    reply.header("content-security-policy", "default-src 'none'; sandbox").header("x-content-type-options", "nosniff");
    reply.header("cache-control", "private, max-age=3600");
    reply.header("content-type", upload.picture ? upload.type : "text/plain; charset=utf-8");
    return reply.send(upload.picture ?? upload.text);
  });
  app.get("/jobs/:id/diff", jobDiffHandler({ db: deps.pool }, door));
  const streams = { ...deps, db: deps.pool, times: streamTimes, seats: createKeyedSemaphore() };
  app.get("/jobs/:id/events", { exposeHeadRoute: false }, jobEventsHandler(app, streams, door));
  for (const action of Object.keys(jobActions) as (keyof typeof jobActions)[]) {
    app.post(`/jobs/:id/${action}`, jobActionHandler(action, deps, door));
  }
  for (const answer of ["approve", "decline"] as const) {
    app.post(`/jobs/:id/${answer}`, answerApprovalHandler(answer, deps, door));
  }
}

export function sessionDoor(deps: RouteDeps): Door {
  return {
    holderOf: subjectOf,
    authorOf: (request) => `user/${subjectOf(request)}`,
    projectOf: (request) => findProject(deps.pool, (request.params as { projectId: string }).projectId),
    jobOf: (request) => findJob(deps.pool, (request.params as { id: string }).id),
    isStillIn: async (request) => (await deps.sessions.find(request.headers.cookie)) !== null,
    // Browsers send the header when they reconnect. A page that reconnects can only put it in the URL.
    lastEventId: (request) => request.headers["last-event-id"] ?? (request.query as { after?: unknown }).after,
    wantsJsonDiff: () => true,
    // The page reads the job again in any case.
    sendJob: (reply) => reply.send({}),
  };
}

type OfProject = { Params: { projectId: string } };
const parseReading = bodyParser(
  Type.Object({ prompt: Type.String({ maxLength: 10_000 }), model: Type.Optional(Type.String({ maxLength: 200 })) }),
);

/** Helps to write a job. */
export function composeJobRoutes(app: FastifyInstance, deps: RouteDeps): void {
  // A prompt is too long for a URL, so this is a POST. It changes nothing.
  app.post<OfProject>(
    "/projects/:projectId/reading",
    { config: { role: "viewer" } },
    async (request): Promise<DashboardReading> => {
      const project = await findProject(deps.pool, request.params.projectId);
      const { prompt, model } = parseReading(request.body);
      const asked = model ?? allowedModels(project.settings, deps.defaultModel)[0];
      const reading = deps.readPrompt(asked, prompt);
      // Its examples are about pages that the site has.
      return reading.kind === "not_understood"
        ? deps.readPrompt(asked, prompt, await deps.listPages(project.id))
        : reading;
    },
  );

  app.get<OfProject>("/projects/:projectId/suggestions", async (request) => {
    const { id } = await findProject(deps.pool, request.params.projectId);
    return { suggestions: await deps.suggestions(id) };
  });
}

type Identified = { Params: { id: string } };
const previewBytesMax = 1024 * 1024;

/** Everything that is known about one job. */
export function jobDetailRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get<Identified>("/jobs/:id", async (request): Promise<DashboardJob> => {
    const job = await findJob(deps.pool, request.params.id);
    const [run, { used, ...asked }, { settings }, pictures] = await Promise.all([
      readRun(deps.pool, job),
      readRequest(deps.pool, job.id),
      findProject(deps.pool, job.projectId),
      listPictures(deps.pool, job.id),
    ]);
    const { stepsMax, tokensMax, costUsdMax, wallTimeMsMax } = settings.limits;
    const budget = {
      steps: { used: used.steps, max: stepsMax },
      tokens: { used: used.tokens, max: tokensMax },
      costUsd: { used: used.costUsd, max: Math.min(costUsdMax, asked.options.maxCostUsd ?? costUsdMax) },
      ms: { used: used.ms, max: wallTimeMsMax },
    };
    if (run) return { projectId: job.projectId, run, ...asked, budget, pictures };
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

  app.get<Identified & { Querystring: Record<string, unknown> }>("/jobs/:id/picture", async (request, reply) => {
    const { id } = await findJob(deps.pool, request.params.id);
    const { path, side, width } = request.query;
    const isPicture = isPath(path) && isSide(side) && /^[1-9]\d{0,3}$/.test(String(width));
    const webp = isPicture ? await readPicture(deps.pool, id, { path, side, width: Number(width) }) : null;
    if (!webp) throw notFound("This picture is kept no more.");
    // The site's own scripts had a hand in it.
    reply.header("content-security-policy", "default-src 'none'; sandbox").header("x-content-type-options", "nosniff");
    return reply.header("cache-control", "private, max-age=60").header("content-type", "image/webp").send(webp);
  });

  app.get<Identified & { Querystring: Record<string, unknown> }>("/jobs/:id/page", async (request, reply) => {
    const { id } = await findJob(deps.pool, request.params.id);
    const { path, side } = request.query;
    const page = isPath(path) && isSide(side) ? await readFrozenPage(deps.pool, id, path, side) : null;
    if (!page) throw notFound("This page is kept no more.");
    // The site's own scripts had a hand in it: nothing of it runs, loads, sends or sees the dashboard.
    reply.header("content-security-policy", frozenPagePolicy).header("x-content-type-options", "nosniff");
    reply.header("referrer-policy", "no-referrer").header("x-dns-prefetch-control", "off");
    reply.header("cache-control", "private, max-age=60").header("content-encoding", "gzip");
    return reply.type("text/html; charset=utf-8").send(page);
  });

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

const frozenPagePolicy = [
  "sandbox",
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src data:",
  "font-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join("; ");

const isPath = (path: unknown): path is string =>
  typeof path === "string" && path.length <= 4096 && !path.includes("\0");
const isSide = (side: unknown): side is "before" | "after" => side === "before" || side === "after";
