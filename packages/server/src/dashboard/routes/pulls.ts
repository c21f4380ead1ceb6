import type { DashboardFile, DashboardPull } from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../errors.ts";
import { tooManyDiffs as refusal } from "../../http/errors.ts";
import { hastenLook } from "../../jobs/pull-requests.ts";
import { createSeats, seatFor } from "../../lib/locks.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findPullJob } from "../find.ts";
import { listPulls, parsePullFilter } from "../list-pulls.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf, subjectOf } from "../require-session.ts";

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
const parseComment = bodyParser(
  Type.Object({ text: Type.String({ minLength: 1, maxLength: 20_000, pattern: "^[^\\x00]*$" }) }),
);

/** Pull requests, of which the local forge's can be read and changed: reading needs a session, changing write access. */
export function pullRoutes(app: FastifyInstance, { pulls, pool }: RouteDeps): void {
  app.get("/pulls", async (request) => listPulls(pool, parsePullFilter(request.query as Record<string, unknown>)));

  const seats = createSeats(views);
  app.get("/pulls/:projectId/:number", async (request: Named, reply): Promise<DashboardPull> => {
    const name = nameOf(request);
    if (!seatFor(seats, subjectOf(request), reply.raw)()) throw tooManyDiffs();
    const [pull, jobId] = await Promise.all([pulls.read(name), findPullJob(pool, name)]);
    return { ...found(pull), jobId };
  });

  app.get("/pulls/:projectId/:number/file", async (request: Named): Promise<DashboardFile> => {
    const { path } = request.query as { path?: unknown };
    const isPath = typeof path === "string" && path !== "" && path.length <= 4096 && !path.includes("\0");
    const text = isPath ? await pulls.readFile(nameOf(request), path) : null;
    if (text !== null) return { text };
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
    return {};
  });

  app.post("/pulls/:projectId/:number/ready", async (request: Named) => {
    found((await pulls.markReady(nameOf(request))) || null);
    return {};
  });

  app.post("/pulls/:projectId/:number/comments", async (request: Named, reply) => {
    const { text } = parseComment(request.body);
    const comment = { author: subjectOf(request), text: text.toWellFormed() };
    found((await pulls.comment(nameOf(request), comment)) || null);
    // A comment may ask Emend for changes, so poll now.
    await hastenLook(pool, nameOf(request));
    return reply.code(201).send({});
  });
}

function nameOf({ params }: Named): { projectId: string; number: number } {
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
