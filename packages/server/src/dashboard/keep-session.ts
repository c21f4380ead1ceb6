import type { FastifyReply } from "fastify";
import { findSession } from "../accounts/session-store.ts";
import type { AccountsDeps } from "./accounts-plugin.ts";

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
