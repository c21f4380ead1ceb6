import type { FastifyReply, FastifyRequest } from "fastify";
import type { Session } from "../accounts/session-store.ts";
import type { Sessions } from "../accounts/sessions.ts";
import { AppError } from "../errors.ts";

const sessionOf = new WeakMap<FastifyRequest, Session>();
const reading = new Set(["GET", "HEAD"]);

/**
 * Judges a request before its body is read: a session 401, and for writes one of our own pages 403. A key is no session:
 * programs have `/v2`.
 */
export function requireSession(deps: { sessions: Sessions; publicUrl(): string }) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    const session = await deps.sessions.find(request.headers.cookie);
    if (!session) {
      throw new AppError("unauthorized", {
        publicMessage: "Log in to see this: `emend user link` prints a link on the machine that runs Emend.",
      });
    }
    if (!reading.has(request.method) && !isOwnPage(request, deps.publicUrl())) {
      throw new AppError("forbidden", {
        publicMessage: `This was sent from another address than ${deps.publicUrl()}, so nothing was done.`,
      });
    }
    sessionOf.set(request, session);
  };
}

/** Browsers send Origin with every write, and another site cannot forge it; the cookie alone proves nothing. */
function isOwnPage(request: FastifyRequest, publicUrl: string): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return false;
  return request.headers.origin === new URL(publicUrl).origin;
}

/** Who asks, for the record of who made what. */
export function subjectOf(request: FastifyRequest): string {
  return sessionOf.get(request)?.subject ?? "unknown";
}
