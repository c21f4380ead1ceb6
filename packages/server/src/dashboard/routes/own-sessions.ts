import type { DashboardOwnSessions } from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { endOtherSessions, type Holder, listOwnSessions } from "../../accounts/own-sessions.ts";
import type { AccountsDeps } from "../accounts-plugin.ts";
import { actorOf, currentSession } from "../require-session.ts";

/** The browsers in which whoever asks is logged in, and an end to all but this one. */
export function ownSessionRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  const holderOf = (request: FastifyRequest): Holder => ({
    userId: currentSession(request).userId,
    token: deps.sessions.tokenOf(request.headers.cookie) ?? "",
  });

  app.get("/sessions", async (request): Promise<DashboardOwnSessions> => {
    const sessions = await listOwnSessions(deps.pool, holderOf(request));
    return {
      sessions: sessions.map((session) => ({
        ...session,
        startedAt: session.startedAt.toISOString(),
        expiresAt: session.expiresAt.toISOString(),
      })),
    };
  });

  app.post("/sessions/end-others", { config: { role: "viewer" } }, async (request) => ({
    ended: await endOtherSessions(deps.pool, holderOf(request), actorOf(request)),
  }));
}
