import type { DashboardLoggedIn, DashboardRecoveryCodes } from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { addPasskey, changeFactors, removePasskey, renamePasskey } from "../../accounts/factors/change-factors.ts";
import {
  authenticationOptions,
  registrationOptions,
  requireSite,
  verifyPasskey,
  verifyRegistration,
} from "../../accounts/factors/passkeys.ts";
import { proveByPasskey } from "../../accounts/factors/prove-again.ts";
import { findPendingUser, finishWithPasskey, loginExpired } from "../../accounts/factors/second-step.ts";
import { AppError } from "../../errors.ts";
import type { AccountsDeps } from "../dashboard.ts";
import { bodyParser } from "../parse-request.ts";
import { byAnyone, freshOwnerOf, ownerOf } from "./factors.ts";
import { enter } from "./sign-in.ts";

const Bytes = Type.String({ maxLength: 20_000 });
const common = {
  id: Type.String({ minLength: 1, maxLength: 2000 }),
  rawId: Type.String({ maxLength: 2000 }),
  type: Type.Literal("public-key"),
  clientExtensionResults: Type.Object({}),
};
const Answer = Type.Object({
  ...common,
  response: Type.Object({
    clientDataJSON: Bytes,
    authenticatorData: Bytes,
    signature: Bytes,
    userHandle: Type.Optional(Bytes),
  }),
});
const Registration = Type.Object({
  ...common,
  response: Type.Object({ clientDataJSON: Bytes, attestationObject: Bytes }),
});
const Name = Type.String({ maxLength: 1000 });
/** Of a login that waits for its second step. Null: without a password. */
const Pending = Type.Union([Type.String({ maxLength: 100 }), Type.Null()]);

const parseBegin = bodyParser(Type.Object({ token: Pending }));
const parseLogin = bodyParser(Type.Object({ token: Pending, answer: Answer }));

/** Logging in with a passkey, which says who the person is; or as the second step after a password. */
export function passkeyLoginRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  async function userOf(token: string | null): Promise<string | null> {
    if (token === null) return null;
    const userId = await findPendingUser(deps.pool, token);
    if (userId !== null) return userId;
    throw loginExpired();
  }

  app.post("/passkey/begin", async (request) => {
    const site = requireSite(deps.publicUrl());
    const userId = await userOf(parseBegin(request.body).token);
    return authenticationOptions(deps.pool, site, { purpose: "log in", userId, address: request.ip });
  });

  app.post("/passkey", async (request, reply): Promise<DashboardLoggedIn> => {
    const site = requireSite(deps.publicUrl());
    const { token, answer } = parseLogin(request.body);
    const userId = await userOf(token);
    const passkey = await verifyPasskey(deps.pool, site, { purpose: "log in", userId, response: answer });
    const outcome = await finishWithPasskey(deps.pool, {
      passkey,
      pendingToken: token,
      address: request.ip,
      replaces: deps.sessions.tokenOf(request.headers.cookie),
    });
    if (outcome.kind === "logged_in") return enter(deps, reply, outcome);
    throw new AppError("unauthorized", { publicMessage: "This passkey was not accepted. Log in another way." });
  });
}

export const passkeyRegistration = { name: Name, answer: Registration };
const parseRegistration = bodyParser(Type.Object(passkeyRegistration));
const parseName = bodyParser(Type.Object({ name: Name }));
const parseProof = bodyParser(Type.Object({ answer: Answer }));
type Identified = { Params: { id: string } };

/** Ids are base64url. The database refuses some other texts, such as U+0000. */
function idOf(request: FastifyRequest<Identified>): string {
  if (/^[\w-]{1,2000}$/.test(request.params.id)) return request.params.id;
  throw new AppError("not_found", { publicMessage: "Passkey not found." });
}

/** The person's own passkeys. */
export function passkeyRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  const { pool } = deps;

  app.post("/factors/passkeys/begin", byAnyone, async (request) => {
    const { userId, actor } = freshOwnerOf(deps, request);
    const site = requireSite(deps.publicUrl());
    return registrationOptions(pool, site, { userId, email: actor.name, address: request.ip });
  });

  app.post("/factors/passkeys", byAnyone, async (request): Promise<DashboardRecoveryCodes> => {
    const owner = freshOwnerOf(deps, request);
    const { name, answer } = parseRegistration(request.body);
    const site = requireSite(deps.publicUrl());
    const passkey = await verifyRegistration(pool, site, { userId: owner.userId, response: answer });
    const recoveryCodes = await changeFactors(pool, owner, (client) =>
      addPasskey(client, owner.userId, { ...passkey, name }),
    );
    return { recoveryCodes };
  });

  app.post<Identified>("/factors/passkeys/:id/rename", byAnyone, async (request) => {
    const { name } = parseName(request.body);
    await renamePasskey(pool, ownerOf(deps, request), { id: idOf(request), name });
    return {};
  });

  app.post<Identified>("/factors/passkeys/:id/remove", byAnyone, async (request) => {
    await removePasskey(pool, freshOwnerOf(deps, request), idOf(request));
    return {};
  });

  app.post("/factors/prove/passkey/begin", byAnyone, async (request) => {
    const { userId } = ownerOf(deps, request);
    const site = requireSite(deps.publicUrl());
    return authenticationOptions(pool, site, { purpose: "prove", userId, address: request.ip });
  });

  app.post("/factors/prove/passkey", byAnyone, async (request) => {
    const owner = ownerOf(deps, request);
    const site = requireSite(deps.publicUrl());
    const response = parseProof(request.body).answer;
    const passkey = await verifyPasskey(pool, site, { purpose: "prove", userId: owner.userId, response });
    await proveByPasskey(pool, owner, passkey);
    return {};
  });
}
