import type { Readable } from "node:stream";
import { createKeyedSemaphore } from "@emend/base/locks.ts";
import type { Logger } from "@emend/base/logger.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Queryable } from "../../db/pool.ts";
import { requestId } from "../../lib/id.ts";
import { type GitRequest, serveGit } from "./git-backend.ts";
import { refreshOpenPullRequests } from "./pull-requests.ts";
import { isProjectId, type LocalForgeDeps, repositoryOf } from "./repository.ts";

type Service = GitRequest["service"];
const services: readonly Service[] = ["git-upload-pack", "git-receive-pack"];

/** A semaphore: each exchange is a process. Beyond the limit, clients get 503. One slow key cannot use all slots. */
const exchanges = { perHolderMax: 8, allMax: 16 };

interface Params {
  repository: string;
}

export interface GitRoutesDeps extends LocalForgeDeps, Pick<AccessDeps, "authenticateKey"> {
  /** Aborted when the server stops. */
  signal: AbortSignal;
  log: Logger;
}

/** Git's smart HTTP protocol. Fetching needs a key that can read the project, pushing one that can write. */
export function gitRoutes(app: FastifyInstance, deps: GitRoutesDeps): void {
  const seats = createKeyedSemaphore(exchanges);

  async function exchange(
    request: FastifyRequest<{ Params: Params }>,
    reply: FastifyReply,
    asked: { path: GitRequest["path"]; service: Service; body: Readable | null },
  ): Promise<unknown> {
    const projectId = /^(.+)\.git$/.exec(request.params.repository)?.[1] ?? "";
    const isPush = asked.service === "git-receive-pack";
    const key = await admitKey(deps, request, reply, { projectId, right: isPush ? "write" : "read" });
    if (key === null) return reply;
    const leave = seats.take(key);
    if (leave === null) {
      reply.header("retry-after", "5");
      return sendText(reply, 503, "too many git clients at once: try again in a moment");
    }
    try {
      reply.hijack();
      reply.raw.setHeader("x-request-id", requestId(request.raw));
      const backend = { ...asked, projectId, headers: request.headers, user: key };
      const code = await serveGit(deps.forgeDir, backend, reply.raw);
      if (isPush && asked.body && code === 0) await afterPush(projectId);
    } catch (error) {
      // The response has started, so no error response can be sent.
      deps.log.error({ err: error, projectId, requestId: requestId(request.raw) }, "git exchange failed");
      reply.raw.destroy();
    } finally {
      leave();
    }
    return reply;
  }

  async function afterPush(projectId: string): Promise<void> {
    const repository = repositoryOf(deps, projectId);
    await refreshOpenPullRequests({ db: deps.pool, repository }, projectId, deps.signal).catch((error) =>
      deps.log.warn({ err: error, projectId }, "could not update pull requests after a push"),
    );
  }

  app.get<{ Params: Params; Querystring: { service?: string } }>(
    "/git/:repository/info/refs",
    { exposeHeadRoute: false },
    async (request, reply) => {
      const service = services.find((name) => name === request.query.service);
      if (!service) return sendText(reply, 403, "this server speaks git's smart protocol only");
      return exchange(request, reply, { path: "info/refs", service, body: null });
    },
  );
  for (const service of services) {
    app.post<{ Params: Params; Body: Readable }>(`/git/:repository/${service}`, async (request, reply) =>
      exchange(request, reply, { path: service, service, body: request.body }),
    );
    // The body is streamed to git without parsing.
    app.addContentTypeParser(`application/x-${service}-request`, async (_request: unknown, body: Readable) => body);
  }
}

/** The permissions of a valid API key. */
interface KeyGrant {
  readonly keyId: string;
  readonly projectIds: ReadonlySet<string>;
  readonly scope: "read" | "write" | "manage";
}

export interface AccessDeps {
  pool: Queryable;
  /** Accepts `Bearer <key>`, and `Basic` with the key as the password. */
  authenticateKey(request: FastifyRequest): KeyGrant | null | Promise<KeyGrant | null>;
}

interface Asked {
  projectId: string;
  right: "read" | "write";
}

/**
 * Authorizes a request by API key. Returns the key's name for the audit log and limits, or null if a refusal was sent.
 * Browser sessions are not accepted here.
 */
export async function admitKey(
  deps: AccessDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { projectId, right }: Asked,
): Promise<string | null> {
  const grant = await deps.authenticateKey(request);
  if (!grant) {
    reply.header("www-authenticate", 'Basic realm="Emend: any user name, an API key as the password"');
    return refuse(reply, 401, "an API key is required: use it as the password, with any user name");
  }
  const isThere = grant.projectIds.has(projectId) && (await isLocalProject(deps.pool, projectId));
  if (!isThere) return refuse(reply, 404, "repository not found");
  if (right === "write" && grant.scope === "read") {
    return refuse(reply, 403, "this key is read-only and cannot push");
  }
  return `key ${grant.keyId}`;
}

function refuse(reply: FastifyReply, status: number, words: string): null {
  sendText(reply, status, words);
  return null;
}

/** Git prints the response, so it is plain text. */
export function sendText(reply: FastifyReply, status: number, words: string): FastifyReply {
  return reply.code(status).type("text/plain; charset=utf-8").send(`${words}\n`);
}

/** False if the project does not exist or is on another forge. */
async function isLocalProject(db: Queryable, id: string): Promise<boolean> {
  if (!isProjectId(id)) return false;
  const { rowCount } = await db.query({
    name: "find-local-project",
    text: "select from projects where id = $1 and forge = 'local'",
    values: [id],
  });
  return rowCount === 1;
}
