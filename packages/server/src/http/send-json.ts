import type { FastifyReply } from "fastify";

/** A JSON text that is ready, never to be stored. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  reply.header("content-type", "application/json; charset=utf-8");
  reply.header("cache-control", "no-store");
  return reply.send(text);
}
