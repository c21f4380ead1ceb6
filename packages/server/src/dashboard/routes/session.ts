import type { DashboardSession } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { RouteDeps } from "../dashboard.ts";
import { subjectOf } from "../require-session.ts";

export function sessionRoute(app: FastifyInstance, deps: RouteDeps): void {
  app.get(
    "/session",
    async (request): Promise<DashboardSession> => ({ subject: subjectOf(request), publicUrl: deps.publicUrl() }),
  );
  app.post("/session/end", async (request, reply) => {
    reply.header("set-cookie", await deps.sessions.end(request.headers.cookie));
    return {};
  });
}
