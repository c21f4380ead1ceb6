import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { changePassword } from "../../accounts/change-password.ts";
import { AppError } from "../../errors.ts";
import type { AccountsDeps } from "../accounts-plugin.ts";
import { keepSession } from "../keep-session.ts";
import { bodyParser } from "../parse-body.ts";
import { currentSession } from "../require-session.ts";

const parse = bodyParser(
  Type.Object({
    /** Null: there is none yet. */
    current: Type.Union([Type.String({ maxLength: 10_000 }), Type.Null()]),
    next: Type.String({ maxLength: 10_000 }),
  }),
);

export function passwordRoute(app: FastifyInstance, deps: AccountsDeps): void {
  app.post("/password", { config: { role: "viewer" } }, async (request, reply) => {
    const { userId } = currentSession(request);
    if (userId === null) {
      throw new AppError("conflict", {
        publicMessage: "A link of the console opened this session: it has no password.",
      });
    }
    const change = { ...parse(request.body), userId, address: request.ip };
    const sessionToken = await changePassword(deps, change);
    await keepSession(deps, reply, sessionToken);
    return {};
  });
}
