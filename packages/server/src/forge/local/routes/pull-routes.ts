import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createSeats, seatFor } from "../../../lib/semaphore.ts";
import { type Caller, findCaller, findLocalProject, type LocalProject, listLocalProjects } from "../caller.ts";
import { homePage } from "../pages/home-page.ts";
import { pullPage } from "../pages/pull-page.ts";
import { pullsPage } from "../pages/pulls-page.ts";
import { createPullDesk } from "../pull-desk.ts";
import { getPullRequest, listPullRequests } from "../pull-requests.ts";
import { readPullView } from "../read-pull-view.ts";
import { repositoryOf } from "../repository.ts";
import { isSameOrigin } from "./csrf.ts";
import { pageContext, type Style, sendForeignOrigin, sendNotice, sendPage } from "./page-reply.ts";
import type { PluginDeps } from "./plugin-deps.ts";

type ProjectRequest = FastifyRequest<{ Params: { projectId: string; number?: string } }>;
interface Visit {
  caller: Caller;
  project: LocalProject;
}

/** A pull request is put together by several runs of git, and its page is held until it was read. */
const views = { perHolderMax: 4, allMax: 8 };

/** A project's pull requests: to read them takes a session or a key, to change them the write right as well. */
export function pullRoutes(app: FastifyInstance, deps: PluginDeps, style: Style): void {
  const seats = createSeats(views);
  const cloneUrl = (project: LocalProject) => `${deps.publicUrl()}/git/${project.id}.git`;

  /** Who asks for which project; null where the answer has been sent. */
  async function admit(request: ProjectRequest, reply: FastifyReply): Promise<Visit | null> {
    const { projectId } = request.params;
    const caller = await findCaller(deps, request);
    if (!caller) {
      sendNotice(reply, pageContext(deps, style, null), "signIn");
      return null;
    }
    const project = caller.mayRead(projectId) ? await findLocalProject(deps.pool, projectId) : null;
    if (project) return { caller, project };
    sendNotice(reply, pageContext(deps, style, caller), "notFound");
    return null;
  }

  async function showPull(reply: FastifyReply, visit: Visit, number: number, alert: string | null): Promise<unknown> {
    const context = pageContext(deps, style, visit.caller);
    const repository = repositoryOf(deps, visit.project.id);
    const hasSeat = seatFor(seats, visit.caller.name, reply.raw)();
    if (!hasSeat) return sendNotice(reply.header("retry-after", "1"), context, "busy");
    const view = await readPullView({ db: deps.pool, repository }, visit.project.id, number, deps.signal);
    if (!view) return sendNotice(reply, context, "notFound");
    const mayWrite = visit.caller.mayWrite(visit.project.id);
    const page = { ...view, ...visit, mayWrite, cloneUrl: cloneUrl(visit.project), alert };
    return sendPage(reply, alert === null ? 200 : 409, pullPage(context, page));
  }

  /** These pages are for keys, and for browsers where the dashboard is not built; elsewhere it shows the same, and more. */
  function toDashboard(request: FastifyRequest, reply: FastifyReply, path: string): FastifyReply | null {
    const url = isVisit(request) ? (deps.dashboardUrl?.() ?? null) : null;
    return url === null ? null : reply.header("cache-control", "no-store").redirect(`${url}${path}`, 303);
  }

  app.get("/", async (request, reply) => {
    const elsewhere = toDashboard(request, reply, "");
    if (elsewhere) return elsewhere;
    const caller = await findCaller(deps, request);
    if (!caller) return sendNotice(reply, pageContext(deps, style, null), "signIn");
    const projects = (await listLocalProjects(deps.pool)).filter(({ id }) => caller.mayRead(id));
    return sendPage(reply, 200, homePage(pageContext(deps, style, caller), projects));
  });

  app.get("/forge/:projectId/pulls", async (request: ProjectRequest, reply) => {
    const { projectId } = request.params;
    const elsewhere = toDashboard(request, reply, `/pulls?project=${encodeURIComponent(projectId)}`);
    if (elsewhere) return elsewhere;
    const visit = await admit(request, reply);
    if (!visit) return reply;
    const pullRequests = await listPullRequests(deps.pool, visit.project.id);
    const view = { project: visit.project, pullRequests, cloneUrl: cloneUrl(visit.project) };
    return sendPage(reply, 200, pullsPage(pageContext(deps, style, visit.caller), view));
  });

  app.get("/forge/:projectId/pull/:number", async (request: ProjectRequest, reply) => {
    const { projectId } = request.params;
    const elsewhere = toDashboard(request, reply, `/pulls/${encodeURIComponent(projectId)}/${parseNumber(request)}`);
    if (elsewhere) return elsewhere;
    const visit = await admit(request, reply);
    return visit ? showPull(reply, visit, parseNumber(request), null) : reply;
  });

  /** `act` returns what went wrong, in words, or null. */
  function action(
    name: string,
    act: (visit: Visit, number: number, request: ProjectRequest) => Promise<string | null>,
  ): void {
    app.post(`/forge/:projectId/pull/:number/${name}`, async (request: ProjectRequest, reply) => {
      const visit = await admit(request, reply);
      if (!visit) return reply;
      const context = pageContext(deps, style, visit.caller);
      if (!isSameOrigin(request, deps.publicUrl())) return sendForeignOrigin(reply, context, deps.publicUrl());
      if (!visit.caller.mayWrite(visit.project.id)) return sendNotice(reply, context, "forbidden");
      const number = parseNumber(request);
      if (!(await getPullRequest(deps.pool, visit.project.id, number))) return sendNotice(reply, context, "notFound");
      const problem = await act(visit, number, request);
      if (problem !== null) return showPull(reply, visit, number, problem);
      return reply.redirect(`${deps.publicUrl()}/forge/${visit.project.id}/pull/${number}`, 303);
    });
  }

  const desk = createPullDesk(deps);
  action("merge", async ({ caller, project }, number, request) => {
    const form = new URLSearchParams(String(request.body ?? ""));
    const merge = { headExpected: form.get("head"), by: { name: caller.name, address: request.ip } };
    const outcome = await desk.merge({ projectId: project.id, number }, merge);
    return outcome.kind === "refused" ? outcome.reason : null;
  });
  action("close", async ({ caller, project }, number, request) => {
    await desk.close({ projectId: project.id, number }, { name: caller.name, address: request.ip });
    return null;
  });
  action("ready", async ({ project }, number) => {
    await desk.markReady({ projectId: project.id, number });
    return null;
  });
}

/** Somebody opens the page in a browser. Browsers alone send this, and no script can; a key is shown by programs. */
function isVisit({ headers }: FastifyRequest): boolean {
  return headers["sec-fetch-mode"] === "navigate" && headers.authorization === undefined;
}

/** 0, which no pull request has, for anything that is no number of one. */
function parseNumber(request: ProjectRequest): number {
  return /^[1-9]\d{0,8}$/.test(request.params.number ?? "") ? Number(request.params.number) : 0;
}
