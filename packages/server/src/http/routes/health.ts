import type { FastifyInstance } from "fastify";
import type { Queryable } from "../../db/pool.ts";

/** For load balancers and supervisors: liveness (the process answers) and readiness (its database answers too). */
export function healthRoutes(app: FastifyInstance, deps: { db: Queryable }): void {
  app.get("/healthz", (_request, reply) => {
    reply.header("cache-control", "no-store").send({ status: "ok" });
  });
  app.get("/readyz", async (_request, reply) => {
    await deps.db.query("select 1");
    return reply.header("cache-control", "no-store").send({ status: "ready" });
  });
}
