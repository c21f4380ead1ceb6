import type { DashboardSession } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { findMember } from "../../accounts/list-members.ts";
import type { RouteDeps } from "../dashboard.ts";
import { currentSession } from "../require-session.ts";

export function sessionRoute(app: FastifyInstance, deps: RouteDeps): void {
  app.get("/session", async (request): Promise<DashboardSession> => {
    const { subject, role, userId } = currentSession(request);
    const member = userId === null ? null : await findMember(deps.pool, userId);
    return {
      subject,
      role,
      name: member?.name ?? null,
      hasPassword: member?.hasPassword ?? false,
      publicUrl: deps.publicUrl(),
      command: deps.typed.command,
      dataDir: role === "owner" ? deps.typed.dataDir : null,
    };
  });
  app.post("/session/end", { config: { role: "viewer" } }, async (request, reply) => {
    reply.header("set-cookie", await deps.sessions.end(request.headers.cookie));
    return {};
  });
}
