import { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** Long enough for a client that is still sending to read its answer. */
const lingerMs = 500;

/** A body that was answered without being read is not taken in for ever: the connection is cut after a moment. */
export function cutUnreadBodies(app: FastifyInstance): void {
  app.addHook("onResponse", (request, _reply, done) => {
    const { raw } = request;
    // Requests that were injected have no connection of their own.
    if (!raw.complete && raw.socket instanceof Socket) {
      const timer = setTimeout(() => {
        if (!raw.complete) raw.socket.destroy();
      }, lingerMs);
      raw.once("close", () => clearTimeout(timer));
    }
    done();
  });
}
