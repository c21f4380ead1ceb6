import { isBranchName } from "@emend/base/branch-name.ts";
import { addressUsed } from "@emend/base/network.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Queryable } from "../../db/pool.ts";
import { isAppError } from "../../errors.ts";
import { type AccessDeps, admitKey, type GitRoutesDeps, gitRoutes, sendText } from "./git-routes.ts";
import { openLocalForge } from "./local-forge.ts";
import { createPullDesk } from "./pull-desk.ts";
import { saveStatus } from "./pull-requests.ts";

type PullRequestRequest = FastifyRequest<{ Params: { projectId: string; number: string } }>;

/** A log's last part included. */
const formBytesMax = 64 * 1024;

/**
 * The local forge's git endpoints and the links to its pull requests. Register it encapsulated: it has its own body
 * parsers.
 */
export function localForgePlugin(deps: GitRoutesDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: formBytesMax },
      async (_request: unknown, body: string | Buffer) => String(body),
    );
    app.setErrorHandler((error, _request, reply) => {
      const { statusCode = 500 } = error as { statusCode?: number };
      // Server errors are answered by the common error handler.
      if (statusCode >= 500) throw error;
      sendText(reply, 400, "this request could not be read");
    });
    gitRoutes(app, deps);
    linkRoutes(app, deps);
    openPullRoute(app, deps);
    pullActionRoutes(app, deps);
    statusRoute(app, deps);
  };
}

/** A pull request's URL is permanent: jobs, webhooks and chats contain it. It redirects to the dashboard. */
function linkRoutes(app: FastifyInstance, { publicUrl }: GitRoutesDeps): void {
  const pages: Readonly<Record<string, (params: Record<string, string | undefined>) => string>> = {
    "/": () => "",
    "/forge/:projectId/pulls": ({ projectId = "" }) => `/pulls?project=${encodeURIComponent(projectId)}`,
    "/forge/:projectId/pull/:number": ({ projectId = "", number = "" }) =>
      `/pulls/${encodeURIComponent(projectId)}/${encodeURIComponent(number)}`,
  };
  for (const [path, pageOf] of Object.entries(pages)) {
    app.get(path, async (request, reply) =>
      reply
        .header("cache-control", "no-store")
        .redirect(
          `${addressUsed(request.headers, publicUrl())}/app${pageOf(request.params as Record<string, string>)}`,
          303,
        ),
    );
  }
}

/** What a program with a key can do with a pull request: merge, close, or mark as ready. People use the dashboard. */
function pullActionRoutes(app: FastifyInstance, deps: GitRoutesDeps & AccessDeps): void {
  const desk = createPullDesk(deps);

  /** `act` returns the reason for a refusal, or null. */
  function action(
    name: string,
    act: (
      pull: { projectId: string; number: number },
      by: { name: string; address: string },
      form: URLSearchParams,
    ) => Promise<string | null>,
  ): void {
    app.post(`/forge/:projectId/pull/:number/${name}`, async (request: PullRequestRequest, reply) => {
      const { projectId } = request.params;
      const key = await admitKey(deps, request, reply, { projectId, right: "write" });
      if (key === null) return reply;
      if (isForeign(request, deps.publicUrl()))
        return sendText(reply, 403, "refused: the request came from another site");
      const number = /^[1-9]\d{0,8}$/.test(request.params.number) ? Number(request.params.number) : 0;
      if (!(await desk.has({ projectId, number }))) return sendText(reply, 404, "pull request not found");
      const form = new URLSearchParams(String(request.body ?? ""));
      const problem = await act({ projectId, number }, { name: key, address: request.ip }, form);
      if (problem !== null) return sendText(reply, 409, problem);
      return reply.redirect(`${deps.publicUrl()}/forge/${projectId}/pull/${number}`, 303);
    });
  }

  action("merge", async (pull, by, form) => {
    const outcome = await desk.merge(pull, {
      headExpected: form.get("head"),
      squash: form.get("squash") === "true",
      removeBranch: form.get("removeBranch") === "true",
      by,
    });
    return outcome.kind === "refused" ? outcome.reason : null;
  });
  action("close", async (pull, by) => {
    await desk.close(pull, by);
    return null;
  });
  action("ready", async (pull) => {
    await desk.markReady(pull);
    return null;
  });
}

const titleLengthMax = 250;

/** Opens a pull request of a branch that was pushed. `base`: the default branch where none is given. */
function openPullRoute(app: FastifyInstance, deps: GitRoutesDeps & AccessDeps): void {
  app.post("/forge/:projectId/pulls", async (request: FastifyRequest<{ Params: { projectId: string } }>, reply) => {
    const { projectId } = request.params;
    const key = await admitKey(deps, request, reply, { projectId, right: "write" });
    if (key === null) return reply;
    if (isForeign(request, deps.publicUrl()))
      return sendText(reply, 403, "refused: the request came from another site");
    const form = new URLSearchParams(String(request.body ?? ""));
    const read = (name: string) => (form.get(name) ?? "").toWellFormed().replaceAll("\0", "").trim();
    const forge = openLocalForge(deps, projectId);
    const base = read("base") || ((await forge.describeRepository(deps.signal)).defaultBranch ?? "");
    const [head, title] = [read("head"), read("title").slice(0, titleLengthMax)];
    if (!isBranchName(head) || !isBranchName(base))
      return sendText(reply, 400, "head and base must be names of branches");
    if (title === "") return sendText(reply, 400, "a pull request needs a title");
    const draft = { head, base, title, body: read("body"), draft: false, checks: [] };
    const created = await forge.createPullRequest(draft, deps.signal).catch((error: unknown) => {
      if (isAppError(error, "forge_rejected")) return error.publicMessage;
      throw error;
    });
    if (typeof created === "string") return sendText(reply, 409, created);
    if (created.kind !== "created") return sendText(reply, 409, "this branch already has an open pull request");
    return reply.redirect(created.pullRequest.url, 303);
  });
}

const nameLengthMax = 200;
const wordsLengthMax = 1000;
const logLengthMax = 6000;
/** Of a commit: a pull request's page shows them all. */
const statusesMax = 200;
const statusStates = ["pending", "passed", "failed"] as const;

/** What a CI of yours says about a commit that was pushed. The same name again replaces it. */
function statusRoute(app: FastifyInstance, deps: GitRoutesDeps & AccessDeps): void {
  type StatusRequest = FastifyRequest<{ Params: { projectId: string; commit: string } }>;
  app.post("/forge/:projectId/statuses/:commit", async (request: StatusRequest, reply) => {
    const { projectId, commit } = request.params;
    const key = await admitKey(deps, request, reply, { projectId, right: "write" });
    if (key === null) return reply;
    if (isForeign(request, deps.publicUrl()))
      return sendText(reply, 403, "refused: the request came from another site");
    const form = new URLSearchParams(String(request.body ?? ""));
    const read = (name: string) => (form.get(name) ?? "").toWellFormed().replaceAll("\0", "").trim();
    const state = statusStates.find((one) => one === read("state"));
    const [name, url, log] = [read("name").slice(0, nameLengthMax), read("url"), read("log").slice(-logLengthMax)];
    if (!/^[0-9a-f]{40}$/.test(commit)) return sendText(reply, 400, "the commit must be its whole id of 40 characters");
    if (name === "") return sendText(reply, 400, "a status needs a name");
    if (state === undefined) return sendText(reply, 400, `state must be one of ${statusStates.join(", ")}`);
    if (url !== "" && !/^https?:\/\/\S{1,2000}$/.test(url)) return sendText(reply, 400, "url must begin with https://");
    if (name.toLowerCase() === (await ownStatusOf(deps.pool, projectId)).toLowerCase())
      return sendText(reply, 403, `${name} is the status of Emend's own check: choose another name`);
    const words = read("description").slice(0, wordsLengthMax);
    const status = { commit, name, state, words, url, ...(log !== "" && { log }) };
    if (!(await saveStatus(deps.pool, projectId, status, statusesMax)))
      return sendText(reply, 409, `a commit has at most ${statusesMax} statuses`);
    return sendText(reply, 201, "saved");
  });
}

async function ownStatusOf(db: Queryable, projectId: string): Promise<string> {
  const { rows } = await db.query<{ name: string }>(
    "select coalesce(settings #>> '{gate,name}', 'emend') as name from projects where id = $1",
    [projectId],
  );
  return rows[0]?.name ?? "emend";
}

/** CSRF: a browser remembers a key from its Basic auth prompt and sends it with requests from any site. */
function isForeign({ headers }: FastifyRequest, publicUrl: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return true;
  return headers.origin !== undefined && headers.origin !== new URL(publicUrl).origin;
}
