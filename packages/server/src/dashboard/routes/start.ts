import type { FastifyInstance } from "fastify";
import type { AccountsDeps } from "../accounts-plugin.ts";
import { actorOf } from "../require-session.ts";

export function startRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  /** The sample docs, as a project of the local forge. */
  app.post("/start/sample", async (request, reply) => reply.code(201).send(await deps.addSample(actorOf(request))));
}
