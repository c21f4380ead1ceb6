import type { DashboardAppSetup, DashboardFactors, DashboardRecoveryCodes } from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import {
  addApp,
  beginApp,
  changeFactors,
  type FactorOwner,
  removeApp,
  renewRecoveryCodes,
} from "../../accounts/factors/change-factors.ts";
import { listFactors } from "../../accounts/factors/list-factors.ts";
import { passkeySite } from "../../accounts/factors/passkeys.ts";
import { proveAgain } from "../../accounts/factors/prove-again.ts";
import { notFresh } from "../../accounts/sessions/log-in.ts";
import { AppError } from "../../errors.ts";
import type { AccountsDeps } from "../dashboard.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf, currentSession } from "../require-session.ts";

const Code = Type.String({ maxLength: 100 });
const parseProof = bodyParser(
  Type.Union([Type.Object({ password: Type.String({ maxLength: 1000 }) }), Type.Object({ code: Code })]),
);
export const appConfirmation = { setup: Type.String({ maxLength: 1000 }), code: Code };
const parseConfirmation = bodyParser(Type.Object(appConfirmation));
export const byAnyone = { config: { role: "viewer" } } as const;

/** Of a person's session. */
export function ownerOf(deps: Pick<AccountsDeps, "sessions">, request: FastifyRequest): FactorOwner {
  const { userId } = currentSession(request);
  const sessionToken = deps.sessions.tokenOf(request.headers.cookie);
  if (userId !== null && sessionToken !== null) return { userId, sessionToken, actor: actorOf(request) };
  throw new AppError("conflict", {
    publicMessage: "A link of the console opened this session, so it has no second factor. Log in as a member.",
  });
}

/** Of a session in which the person has just shown that it is them. */
export function freshOwnerOf(deps: Pick<AccountsDeps, "sessions">, request: FastifyRequest): FactorOwner {
  const owner = ownerOf(deps, request);
  if (currentSession(request).isFresh) return owner;
  throw notFresh();
}

/** The person's own second factors. Each change needs a fresh session. */
export function factorRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  app.get("/factors", async (request): Promise<DashboardFactors> => {
    const factors = await listFactors(deps.pool, ownerOf(deps, request).userId);
    const allowsPasskeys = passkeySite(deps.publicUrl()) !== null;
    return { ...factors, allowsPasskeys, isFresh: currentSession(request).isFresh };
  });

  app.post("/factors/prove", byAnyone, async (request) => {
    const proof = parseProof(request.body);
    await proveAgain(deps, { ...ownerOf(deps, request), proof });
    return {};
  });

  app.post("/factors/authenticator-app/begin", byAnyone, async (request): Promise<DashboardAppSetup> => {
    const { userId, actor } = freshOwnerOf(deps, request);
    return beginApp(deps, { userId, email: actor.name, publicUrl: deps.publicUrl() });
  });

  app.post("/factors/authenticator-app/confirm", byAnyone, async (request): Promise<DashboardRecoveryCodes> => {
    const owner = freshOwnerOf(deps, request);
    const app = parseConfirmation(request.body);
    const { pool, sealer } = deps;
    const recoveryCodes = await changeFactors(pool, owner, (client) => addApp({ client, sealer }, owner.userId, app));
    return { recoveryCodes };
  });

  app.post("/factors/authenticator-app/remove", byAnyone, async (request) => {
    await removeApp(deps.pool, freshOwnerOf(deps, request));
    return {};
  });

  app.post(
    "/factors/recovery-codes",
    byAnyone,
    async (request): Promise<DashboardRecoveryCodes> => ({
      recoveryCodes: await renewRecoveryCodes(deps.pool, freshOwnerOf(deps, request)),
    }),
  );
}
