import type { DashboardLogin } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { logIn } from "../../accounts/log-in.ts";
import { hasOwner } from "../../accounts/owner-link.ts";
import { AppError } from "../../errors.ts";
import type { AccountsDeps } from "../accounts-plugin.ts";
import { keepSession } from "../keep-session.ts";
import { bodyParser } from "../parse-body.ts";

const parseLogin = bodyParser(
  Type.Object({ email: Type.String({ maxLength: 1000 }), password: Type.String({ maxLength: 1000 }) }),
);

export function loginRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  /** What the login page offers. */
  app.get<{ Querystring: { problem?: unknown } }>("/", async (request): Promise<DashboardLogin> => {
    const { singleSignOn } = deps;
    const { problem } = request.query;
    return {
      hasOwner: await hasOwner(deps.pool),
      singleSignOn: singleSignOn && { name: singleSignOn.name },
      problem: typeof problem === "string" ? (singleSignOn?.openWords(problem) ?? null) : null,
    };
  });

  app.post("/login", async (request, reply) => {
    const { email, password } = parseLogin(request.body);
    const replaces = deps.sessions.tokenOf(request.headers.cookie);
    const device = await deps.devices.find(request.headers.cookie);
    const outcome = await logIn(deps, { email, password, address: request.ip, device, replaces });
    switch (outcome.kind) {
      case "logged_in":
        await keepSession(deps, reply, outcome.sessionToken);
        return {};
      case "refused":
        throw new AppError("unauthorized", { publicMessage: "The email address or the password is wrong." });
      case "throttled":
        throw new AppError("rate_limited", {
          publicMessage: `Too many wrong passwords. Try again in ${inMinutes(outcome.retryAfterMs)}, or ask an administrator for a login link: emend user link.`,
          retryAfterMs: outcome.retryAfterMs,
        });
    }
  });
}

function inMinutes(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}
