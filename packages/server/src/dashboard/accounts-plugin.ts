import type { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { AppError } from "../errors.ts";
import type { AccountsDeps } from "./dashboard.ts";
import { readBodies } from "./parse-request.ts";
import { apiPrefix } from "./plugin.ts";
import { requireOwnPage, requireSession } from "./require-session.ts";
import { ownSessionRoutes, passwordRoute, settingsRoutes, startRoutes } from "./routes/account.ts";
import { auditRoutes } from "./routes/audit.ts";
import { memberRoutes } from "./routes/members.ts";
import { linkRoutes, loginLinkRoute, loginRoutes, singleSignOnRoutes } from "./routes/sign-in.ts";

const bodyBytesMax = 64 * 1024;

function tooMuch(): AppError {
  const publicMessage = "Too many logins at once. Try again in a moment.";
  return new AppError("unavailable", { publicMessage, retryAfterMs: 5_000 });
}

/** The dashboard's routes for accounts: logging in, which needs no session, and managing members. */
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
