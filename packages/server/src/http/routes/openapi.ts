import type {} from "@fastify/swagger";
import type { FastifyInstance } from "fastify";

/** The document, with this installation's URL. */
export function openapiRoute(app: FastifyInstance, deps: { publicUrl: () => string }): void {
  app.get("/openapi.json", (_request, reply) => {
    reply.header("content-type", "application/json; charset=utf-8");
    reply.send(JSON.stringify({ ...app.swagger(), servers: [{ url: deps.publicUrl() }] }));
  });
}
