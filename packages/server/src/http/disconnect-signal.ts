import type { FastifyReply } from "fastify";

/** Aborted when the client has gone, or has its answer. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => controller.abort());
  if (reply.raw.destroyed) controller.abort();
  return controller.signal;
}
