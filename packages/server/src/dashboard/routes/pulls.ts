import { acquireForResponse, createKeyedSemaphore } from "@emend/base/locks.ts";
import { rulesModelName } from "@emend/base/model-names.ts";
import { type DashboardPull, type DashboardPullFile, findingsShownMax } from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { allowedModels } from "../../accounts/projects/project-settings.ts";
import { asActor } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { tooManyDiffs as refusal } from "../../http/errors.ts";
import { messageJobHandler } from "../../http/routes/job-handlers.ts";
import { listPictures } from "../../jobs/page-pictures.ts";
import { hastenPoll } from "../../jobs/pull-requests.ts";
import { toFinding } from "../../jobs/read/run-report.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findGateFindings, findJob, findProject, findPullJob, type PullJob } from "../find.ts";
import { listPulls, parsePullFilter } from "../list-pulls.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf, subjectOf } from "../require-session.ts";
import { sessionDoor } from "./jobs.ts";

/** Each needs several git processes, and keeps a diff in memory until it is read. */
const views = { perHolderMax: 4, allMax: 8 };

type Named = FastifyRequest<{ Params: { projectId: string; number: string } }>;
const parseMerge = bodyParser(
  Type.Object({
    head: Type.String({ pattern: "^[0-9a-f]{40,64}$" }),
    squash: Type.Optional(Type.Boolean()),
    removeBranch: Type.Optional(Type.Boolean()),
  }),
);
const text = Type.String({ minLength: 1, maxLength: 20_000, pattern: "^[^\\x00]*$" });
const head = Type.String({ pattern: "^[0-9a-f]{40,64}$" });
const path = Type.String({ minLength: 1, maxLength: 4_096 });
const line = Type.Integer({ minimum: 1, maximum: 10_000_000 });
const parseComment = bodyParser(Type.Object({ text }));
const parseThread = bodyParser(
  Type.Object({
    head,
    path,
    side: Type.Enum(["before", "after"]),
    firstLine: line,
    lastLine: line,
    text: Type.String({ maxLength: 20_000 }),
    suggestion: Type.Optional(Type.String({ maxLength: 20_000 })),
  }),
);
const parseReview = bodyParser(
  Type.Object({
    head,
    verdict: Type.Enum(["approved", "changes_requested"]),
    text: Type.String({ maxLength: 20_000 }),
  }),
);
const parseReviewer = bodyParser(
  Type.Object({ reviewer: Type.String({ minLength: 1, maxLength: 1_000 }), isWanted: Type.Boolean() }),
);
const parseViewed = bodyParser(Type.Object({ path, isViewed: Type.Boolean() }));
const parseResolve = bodyParser(Type.Object({ resolved: Type.Boolean() }));
const parseApply = bodyParser(Type.Object({ head }));
const parseEdit = bodyParser(
  Type.Object({
    head,
    path,
    text: Type.String({ maxLength: 1024 * 1024 }),
    message: Type.String({ minLength: 1, maxLength: 2_000 }),
  }),
);

/** Pull requests, of which the local forge's can be read and changed: reading needs a session, changing write access. */
export function pullRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { pulls, reviews, pool } = deps;
  app.get("/pulls", async (request) => listPulls(pool, parsePullFilter(request.query as Record<string, unknown>)));

  const seats = createKeyedSemaphore(views);
  app.get("/pulls/:projectId/:number", async (request: Named, reply): Promise<DashboardPull> => {
    const name = nameOf(request);
    if (!acquireForResponse(seats, subjectOf(request), reply.raw)()) throw tooManyDiffs();
    const [read, job] = await Promise.all([pulls.read(name, subjectOf(request)), findPullJob(pool, name)]);
    const pull = found(read);
    const ask = pull.state === "open" ? await askStateOf(deps, name.projectId, job) : null;
    // After reading, which takes in what was pushed.
    const threads = await reviews.list(name);
    const reported = job ? job.findings : await findGateFindings(pool, name.projectId, pull.headCommit);
    const findings = reported.slice(0, findingsShownMax).map(toFinding);
    const pictures = job?.commitId === pull.headCommit ? await listPictures(pool, job.id) : [];
    return { ...pull, jobId: job?.id ?? null, pictures, ask, threads, findings };
  });

  app.get("/pulls/:projectId/:number/file", async (request: Named): Promise<DashboardPullFile> => {
    const { path } = request.query as { path?: unknown };
    const isPath = typeof path === "string" && path !== "" && path.length <= 4096 && !path.includes("\0");
    const file = isPath ? await pulls.readFile(nameOf(request), path) : null;
    if (file !== null) return file;
    throw new AppError("not_found", { publicMessage: "The page's whole text cannot be shown." });
  });

  app.post("/pulls/:projectId/:number/merge", async (request: Named) => {
    const { head, squash = false, removeBranch = false } = parseMerge(request.body);
    const wish = { headExpected: head, squash, removeBranch, by: actorOf(request) };
    const outcome = await pulls.merge(nameOf(request), wish);
    if (outcome.kind === "refused") throw new AppError("conflict", { publicMessage: outcome.reason });
    found(outcome.kind === "merged" || null);
    return {};
  });

  app.post("/pulls/:projectId/:number/close", async (request: Named) => {
    found((await pulls.close(nameOf(request), actorOf(request))) || null);
    await hastenPoll(pool, nameOf(request));
    return {};
  });

  app.post("/pulls/:projectId/:number/ready", async (request: Named) => {
    found((await pulls.markReady(nameOf(request))) || null);
    // Its job says so too.
    await hastenPoll(pool, nameOf(request));
    return {};
  });

  app.post("/pulls/:projectId/:number/comments", async (request: Named, reply) => {
    const { text } = parseComment(request.body);
    const comment = { author: subjectOf(request), text: text.toWellFormed() };
    found((await pulls.comment(nameOf(request), comment)) || null);
    // A comment may ask Emend for changes, so poll now.
    await hastenPoll(pool, nameOf(request));
    return reply.code(201).send({});
  });
}

/** Approvals, requests for changes, who is asked for them, and the files that somebody has viewed. */
export function verdictRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { pulls, pool } = deps;

  app.post("/pulls/:projectId/:number/review", async (request: Named) => {
    const { text, ...review } = parseReview(request.body);
    const by = subjectOf(request);
    done(await pulls.review(nameOf(request), { ...review, by }));
    const requestsChanges = review.verdict === "changes_requested";
    if (text.trim() !== "") await pulls.comment(nameOf(request), { author: by, text, requestsChanges });
    await auditPull(deps, request, review.verdict);
    // Its text may ask Emend for changes, so poll now.
    await hastenPoll(pool, nameOf(request));
    return {};
  });

  app.post("/pulls/:projectId/:number/reviewers", async (request: Named) => {
    const reviewer = parseReviewer(request.body);
    done(await pulls.setReviewer(nameOf(request), reviewer));
    const what = reviewer.isWanted ? "review_requested" : "review_removed";
    await auditPull(deps, request, what, { reviewer: reviewer.reviewer });
    return {};
  });

  // It changes what this person sees and nothing else, so a viewer may do it.
  app.post("/pulls/:projectId/:number/viewed", { config: { role: "viewer" } }, async (request) => {
    const named = request as Named;
    const input = { ...parseViewed(request.body), viewer: subjectOf(request) };
    found((await pulls.setViewed(nameOf(named), input)) || null);
    return {};
  });
}

type ThreadNamed = FastifyRequest<{ Params: { projectId: string; number: string; id: string } }>;

/** Comments on lines, suggestions and edits. All change something, so they need write access. */
export function reviewRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { pool, reviews } = deps;

  app.post("/pulls/:projectId/:number/threads", async (request: Named, reply) => {
    const { suggestion = null, ...thread } = parseThread(request.body);
    if (thread.text.trim() === "" && suggestion === null) {
      throw new AppError("invalid_request", { publicMessage: "text must not be empty." });
    }
    done(await reviews.comment(nameOf(request), { ...thread, suggestion, author: subjectOf(request) }));
    await hastenPoll(pool, nameOf(request));
    return reply.code(201).send({});
  });

  app.post("/pulls/:projectId/:number/threads/:id/replies", async (request: ThreadNamed, reply) => {
    const { text } = parseComment(request.body);
    done(await reviews.reply(nameOf(request), request.params.id, { author: subjectOf(request), text }));
    await hastenPoll(pool, nameOf(request));
    return reply.code(201).send({});
  });

  app.post("/pulls/:projectId/:number/threads/:id/resolve", async (request: ThreadNamed) => {
    const { resolved } = parseResolve(request.body);
    done(await reviews.resolve(nameOf(request), request.params.id, resolved ? subjectOf(request) : null));
    return {};
  });

  app.post("/pulls/:projectId/:number/threads/:id/apply", async (request: ThreadNamed) => {
    const input = { ...parseApply(request.body), by: subjectOf(request) };
    done(await reviews.applySuggestion(nameOf(request), request.params.id, input));
    await auditPull(deps, request, "suggestion");
    return {};
  });

  app.post("/pulls/:projectId/:number/edit", async (request: Named) => {
    const edit = parseEdit(request.body);
    done(await reviews.edit(nameOf(request), { ...edit, by: subjectOf(request) }));
    await auditPull(deps, request, "edited", { path: edit.path });
    return {};
  });

  const pullJobOf = (request: unknown) => findPullJob(pool, nameOf(request as Named));
  const jobOf = async (request: unknown) => findJob(pool, (await pullJobOf(request))?.id ?? "");
  const modelOf = async (request: unknown) => {
    const isByRules = (await pullJobOf(request))?.model === rulesModelName;
    return isByRules ? firstModel(deps, nameOf(request as Named).projectId) : undefined;
  };
  // The same comments would be sent again.
  const message = messageJobHandler(deps, { ...sessionDoor(deps), jobOf }, { onlyEnded: true, modelOf });
  app.post("/pulls/:projectId/:number/ask", async (request: Named, reply) => {
    const prompt = await reviews.request(nameOf(request));
    if (prompt === null) throw new AppError("conflict", { publicMessage: "There are no open comments on lines." });
    const state = await askStateOf(deps, request.params.projectId, await pullJobOf(request));
    if (state === "needs_model") {
      const publicMessage =
        "Comments are free text, which the built-in rules don't read. Set a language model in the project.";
      throw new AppError("conflict", { publicMessage });
    }
    request.body = { prompt };
    const answer = await message(request, reply);
    if (reply.statusCode < 300) await auditPull(deps, request, "asked");
    return answer;
  });
}

/** Edits and requests change the repository and not a row, so no trigger sees them. */
export async function auditPull(
  { pool }: RouteDeps,
  request: FastifyRequest,
  what:
    | "edited"
    | "suggestion"
    | "asked"
    | "proposed"
    | "approved"
    | "changes_requested"
    | "review_requested"
    | "review_removed",
  details: { number?: number; path?: string; reviewer?: string } = {},
): Promise<void> {
  const { projectId = "", number } = request.params as { projectId?: string; number?: string };
  const about = { ...(number !== undefined && { number: Number(number) }), ...details };
  const acting = asActor(pool, actorOf(request));
  await acting.query("select audit($1, $2, $3)", [`pull_request.${what}`, projectId, about]);
}

/** Comments are free text. If the rules did the job, the project's language model continues it. */
async function askStateOf(deps: RouteDeps, projectId: string, job: PullJob | null): Promise<DashboardPull["ask"]> {
  if (job === null || job.status === "archived") return null;
  if (job.status === "active") return "working";
  const isByRules = job.model === rulesModelName && (await firstModel(deps, projectId)) === rulesModelName;
  return isByRules ? "needs_model" : "ready";
}

async function firstModel(deps: RouteDeps, projectId: string): Promise<string> {
  return allowedModels((await findProject(deps.pool, projectId)).settings, deps.defaultModel)[0];
}

type Outcome = Awaited<ReturnType<RouteDeps["reviews"]["reply"]>>;

function done(outcome: Outcome): void {
  if (outcome.kind === "refused") throw new AppError("conflict", { publicMessage: outcome.reason });
  if (outcome.kind === "not_found") throw notFound();
}

function nameOf({ params }: Named | ThreadNamed): { projectId: string; number: number } {
  const { projectId, number } = params;
  if (isId(projectId) && /^[1-9]\d{0,8}$/.test(number)) return { projectId, number: Number(number) };
  throw notFound();
}

function isId(text: string): boolean {
  return /^[0-9A-Za-z_-]{1,64}$/.test(text);
}

function found<T>(value: T | null): T {
  if (value !== null) return value;
  throw notFound();
}

function notFound(): AppError {
  return new AppError("not_found", { publicMessage: "Pull request not found." });
}

function tooManyDiffs(): AppError {
  return new AppError("rate_limited", { publicMessage: refusal.message, retryAfterMs: 1_000 });
}
