import type { FastifyReply, FastifyRequest } from "fastify";
import { isAtLeast, type Role } from "../accounts/people/user.ts";
import { findSession, type Session } from "../accounts/sessions/session-store.ts";
import type { Sessions } from "../accounts/sessions/sessions.ts";
import type { Actor } from "../db/acting.ts";
import { AppError } from "../errors.ts";
import { isFromOwnPage } from "../lib/own-address.ts";
import type { AccountsDeps } from "./dashboard.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Who may use a route of the dashboard, where it is not who the method says: viewers read, maintainers write. */
    role?: Role;
  }
}

const sessionOf = new WeakMap<FastifyRequest, Session>();
const reading = new Set(["GET", "HEAD"]);

/**
 * Judges a request before its body is read: a session 401, for writes one of our own pages 403, then the role 403. A key
 * is no session: programs have `/v2`.
 */
export function requireSession(deps: { sessions: Sessions; publicUrl(): string }) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    const session = await deps.sessions.find(request.headers.cookie);
    if (!session) throw new AppError("unauthorized", { publicMessage: "Log in to go on: your session has ended." });
    requireOwnPage(request, deps.publicUrl());
    const isReading = reading.has(request.method);
    const needed = request.routeOptions.config.role ?? (isReading ? "viewer" : "maintainer");
    if (!isAtLeast(session.role, needed)) {
      throw new AppError("forbidden", {
        publicMessage: `This takes the role ${needed}, and yours is ${session.role}. An owner can change it.`,
      });
    }
    sessionOf.set(request, session);
  };
}

/** Also for routes that need no session yet: nobody is logged in, or out, by another site. */
export function requireOwnPage(request: FastifyRequest, publicUrl: string): void {
  if (reading.has(request.method) || isFromOwnPage(request.headers, publicUrl)) return;
  throw new AppError("forbidden", {
    publicMessage: `This page was not opened at Emend's address, so nothing was changed. Open ${publicUrl}/app instead, or set EMEND_PUBLIC_URL to the address that you use.`,
  });
}

/** Who asks, for the record of who made what. */
export function subjectOf(request: FastifyRequest): string {
  return sessionOf.get(request)?.subject ?? "unknown";
}

/** Who asks and from where, for the audit log. */
export function actorOf(request: FastifyRequest): Actor {
  return { name: subjectOf(request), address: request.ip };
}

/** The session of a request that passed. */
export function currentSession(request: FastifyRequest): Session {
  const session = sessionOf.get(request);
  if (session) return session;
  throw new AppError("unauthorized", { publicMessage: "Log in first." });
}

/** Gives the browser the session that was opened for it, and what it is known by when it comes again. */
export async function keepSession(
  deps: Pick<AccountsDeps, "pool" | "sessions" | "devices">,
  reply: FastifyReply,
  sessionToken: string,
): Promise<void> {
  reply.header("set-cookie", deps.sessions.cookieOf(sessionToken));
  const session = await findSession(deps.pool, sessionToken);
  if (session?.userId) reply.header("set-cookie", deps.devices.cookieOf(session.subject));
}
