import type { IncomingMessage, ServerResponse } from "node:http";

/** Long enough for a client that is still sending to read its answer. */
const lingerMs = 500;

/**
 * A body that was answered without being read is not taken in for ever: the connection is cut after a moment. No hook of
 * the framework, since one that runs after each answer costs every GET, and most requests have no body at all.
 */
export function cutUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { headers } = request;
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return;
  response.once("finish", () => {
    if (request.complete) return;
    const timer = setTimeout(() => {
      if (!request.complete) request.socket.destroy();
    }, lingerMs);
    request.once("close", () => clearTimeout(timer));
  });
}
