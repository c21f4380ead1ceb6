import { isFromOwnPage } from "@emend/base/network.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isAtLeast, type Role } from "../accounts/people/user.ts";
import { findSession, type Session } from "../accounts/sessions/session-store.ts";
import type { Sessions } from "../accounts/sessions/sessions.ts";
import type { Actor } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import type { AccountsDeps } from "./dashboard.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The role that a route requires, if it differs from the default: viewers read, maintainers write. */
    role?: Role;
  }
}

const sessionOf = new WeakMap<FastifyRequest, Session>();
const reading = new Set(["GET", "HEAD"]);

/**
 * Middleware that runs before the body is read. Checks the session (401), CSRF for writes (403) and the role (403). API
 * keys are not accepted: programs use `/v2`.
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

/** CSRF: also for routes that need no session, so that no other site can log people in or out. */
export function requireOwnPage(request: FastifyRequest, publicUrl: string): void {
  if (reading.has(request.method) || isFromOwnPage(request.headers, publicUrl)) return;
  throw new AppError("forbidden", {
    publicMessage: `This page was not opened at Emend's address, so nothing was changed. Open ${publicUrl}/app instead, or set EMEND_PUBLIC_URL to the address that you use.`,
  });
}

/** The actor's name, for records. */
export function subjectOf(request: FastifyRequest): string {
  return sessionOf.get(request)?.subject ?? "unknown";
}

/** The actor and their address, for the audit log. */
export function actorOf(request: FastifyRequest): Actor {
  return { name: subjectOf(request), address: request.ip };
}

/** The session of an authenticated request. */
export function currentSession(request: FastifyRequest): Session {
  const session = sessionOf.get(request);
  if (session) return session;
  throw new AppError("unauthorized", { publicMessage: "Log in first." });
}

/** Sets the cookies of a new session and of the known device. */
export async function keepSession(
  deps: Pick<AccountsDeps, "pool" | "sessions" | "devices">,
  reply: FastifyReply,
  sessionToken: string,
): Promise<void> {
  reply.header("set-cookie", deps.sessions.cookieOf(sessionToken));
  const session = await findSession(deps.pool, sessionToken);
  if (session?.userId) reply.header("set-cookie", deps.devices.cookieOf(session.subject));
}
