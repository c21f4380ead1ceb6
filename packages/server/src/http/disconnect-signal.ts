import type { FastifyReply } from "fastify";

/** Aborted when the client disconnects or has its response. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => controller.abort());
  if (reply.raw.destroyed) controller.abort();
  return controller.signal;
}
