import type { DashboardAppSetup, DashboardRecoveryCodes } from "@emend/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { beginApp } from "../../accounts/factors/change-factors.ts";
import { registrationOptions, requireSite, verifyRegistration } from "../../accounts/factors/passkeys.ts";
import { findSetUp, type SetUp, setUpApp, setUpPasskey } from "../../accounts/factors/set-up-step.ts";
import type { AccountsDeps } from "../dashboard.ts";
import { bodyParser } from "../parse-request.ts";
import { keepSession } from "../require-session.ts";
import { appConfirmation } from "./factors.ts";
import { passkeyRegistration } from "./passkeys.ts";

/** Of a login that waits for its first factor. */
const token = Type.String({ maxLength: 100 });
const parseBegin = bodyParser(Type.Object({ token }));
const parseApp = bodyParser(Type.Object({ token, ...appConfirmation }));
const parsePasskey = bodyParser(Type.Object({ token, ...passkeyRegistration }));

/** Setting up the first factor, where one is required: after the password, before there is a session. */
export function setUpRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  const { pool } = deps;

  const stepOf = (request: FastifyRequest, pendingToken: string) => ({
    pendingToken,
    address: request.ip,
    replaces: deps.sessions.tokenOf(request.headers.cookie),
  });

  async function enter(reply: FastifyReply, { sessionToken, recoveryCodes }: SetUp): Promise<DashboardRecoveryCodes> {
    await keepSession(deps, reply, sessionToken);
    return { recoveryCodes };
  }

  app.post("/set-up/authenticator-app/begin", async (request): Promise<DashboardAppSetup> => {
    const pending = await findSetUp(pool, parseBegin(request.body).token);
    return beginApp(deps, { ...pending, publicUrl: deps.publicUrl() });
  });

  app.post("/set-up/authenticator-app", async (request, reply) => {
    const { token, ...typed } = parseApp(request.body);
    return enter(reply, await setUpApp(deps, stepOf(request, token), typed));
  });

  app.post("/set-up/passkey/begin", async (request) => {
    const pending = await findSetUp(pool, parseBegin(request.body).token);
    return registrationOptions(pool, requireSite(deps.publicUrl()), { ...pending, address: request.ip });
  });

  app.post("/set-up/passkey", async (request, reply) => {
    const { token, name, answer } = parsePasskey(request.body);
    const { userId } = await findSetUp(pool, token);
    const passkey = await verifyRegistration(pool, requireSite(deps.publicUrl()), { userId, response: answer });
    return enter(reply, await setUpPasskey(pool, stepOf(request, token), { ...passkey, name }));
  });
}
