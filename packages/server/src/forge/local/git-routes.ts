import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "../../lib/logger.ts";
import { requestId } from "../../lib/request-id.ts";
import { createSeats } from "../../lib/semaphore.ts";
import { type AccessDeps, admitKey, say } from "./caller.ts";
import { type GitRequest, serveGit } from "./git-backend.ts";
import type { LocalForgeDeps } from "./local-forge.ts";
import { settlePullRequests } from "./pull-requests.ts";
import { repositoryOf } from "./repository.ts";

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
  /** A pull request was merged here. */
  onMerged?(name: { projectId: string; number: number }): Promise<void>;
}

/** Git's smart HTTP protocol. Fetching needs a key that can read the project, pushing one that can write. */
export function gitRoutes(app: FastifyInstance, deps: GitRoutesDeps): void {
  const seats = createSeats(exchanges);

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
      return say(reply, 503, "too many git clients at once: try again in a moment");
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
    await settlePullRequests({ db: deps.pool, repository }, projectId, deps.signal).catch((error) =>
      deps.log.warn({ err: error, projectId }, "could not update pull requests after a push"),
    );
  }

  app.get<{ Params: Params; Querystring: { service?: string } }>(
    "/git/:repository/info/refs",
    { exposeHeadRoute: false },
    async (request, reply) => {
      const service = services.find((name) => name === request.query.service);
      if (!service) return say(reply, 403, "this server speaks git's smart protocol only");
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
