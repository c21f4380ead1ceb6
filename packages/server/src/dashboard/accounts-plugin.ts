import type { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { KnownDevices } from "../accounts/sessions/known-devices.ts";
import type { Passwords } from "../accounts/sessions/passwords.ts";
import type { Sessions } from "../accounts/sessions/sessions.ts";
import type { SingleSignOn } from "../accounts/single-sign-on/single-sign-on.ts";
import type { Actor } from "../db/acting.ts";
import type { Pool } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import type { ByteBudget } from "../lib/byte-budget.ts";
import type { Logger } from "../lib/logger.ts";
import { readBodies } from "./parse-request.ts";
import { apiPrefix } from "./plugin.ts";
import { requireOwnPage, requireSession } from "./require-session.ts";
import { ownSessionRoutes, passwordRoute, settingsRoutes, startRoutes } from "./routes/account.ts";
import { auditRoutes } from "./routes/audit.ts";
import { memberRoutes } from "./routes/members.ts";
import { linkRoutes, loginLinkRoute, loginRoutes, singleSignOnRoutes } from "./routes/sign-in.ts";

/** What logging in and managing people need of the server around them. */
export interface AccountsDeps {
  pool: Pool;
  sessions: Sessions;
  passwords: Passwords;
  devices: KnownDevices;
  /** Null: not configured. */
  singleSignOn: SingleSignOn | null;
  /** For bodies of people who have not logged in. */
  unknownBytes: ByteBudget;
  log: Logger;
  publicUrl(): string;
  /** What the environment says; the dashboard's setting wins over it. */
  archiveAfterDays: number | null;
  /** Makes a project of the docs that come along as a sample. */
  addSample(by: Actor): Promise<{ id: string }>;
}

const bodyBytesMax = 64 * 1024;

function tooMuch(): AppError {
  const publicMessage = "Too many logins at once. Try again in a moment.";
  return new AppError("unavailable", { publicMessage, retryAfterMs: 5_000 });
}

/** The dashboard's routes about people: to log in, which need no session, and to manage who may do what. */
export function accountsPlugin(deps: AccountsDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    loginLinkRoute(app, deps);
    app.register(
      async (open) => {
        readBodies(open);
        open.addHook("onRequest", async (request, reply) => {
          reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
          requireOwnPage(request, deps.publicUrl());
        });
        open.addHook("preParsing", async (_request, reply, payload) =>
          deps.unknownBytes.spend(payload as Readable, reply.raw, tooMuch),
        );
        loginRoutes(open, deps);
        linkRoutes(open, deps);
        singleSignOnRoutes(open, deps);
      },
      { prefix: `${apiPrefix}/auth`, bodyLimit: bodyBytesMax },
    );
    app.register(
      async (closed) => {
        readBodies(closed);
        closed.addHook("onRequest", requireSession(deps));
        startRoutes(closed, deps);
        passwordRoute(closed, deps);
        ownSessionRoutes(closed, deps);
        memberRoutes(closed, deps);
        settingsRoutes(closed, deps);
        auditRoutes(closed, deps);
      },
      { prefix: apiPrefix, bodyLimit: bodyBytesMax },
    );
  };
}
