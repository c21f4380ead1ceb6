import type { DashboardKey, DashboardNames } from "@emend/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { AdminKey } from "../../accounts/keys/api-keys.ts";
import {
  type CreateKeyInput,
  createKey,
  keyScopes,
  listKeys,
  revokeKey,
  rotateKey,
} from "../../accounts/keys/api-keys.ts";
import { isAtLeast } from "../../accounts/people/user.ts";
import { asActor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import type { RouteDeps } from "../dashboard.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf, currentSession, subjectOf } from "../require-session.ts";

const dayMs = 24 * 60 * 60 * 1000;
const Id = Type.String({ pattern: "^[0-9A-Za-z_-]{1,64}$" });
const fields = {
  name: Type.String({ minLength: 1, maxLength: 200, pattern: "^[^\\x00-\\x1f]*$" }),
  projectIds: Type.Array(Id, { minItems: 1, maxItems: 1000 }),
  scope: Type.Enum(keyScopes),
  /** Null: never. */
  expiresInDays: Type.Union([Type.Integer({ minimum: 1, maximum: 3650 }), Type.Null()]),
  /** Null: every address. */
  allowList: Type.Union([Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 }), Type.Null()]),
};
const parseNew = bodyParser(Type.Object(fields));
/** Null: the old key works until it is revoked. */
const Overlap = Type.Union([Type.Integer({ minimum: 0, maximum: 365 }), Type.Null()]);
const parseRotation = bodyParser(Type.Object({ ...fields, overlapDays: Overlap }));
/** Ids have a safe form. The database refuses some other texts. */
const idOf = ({ id }: { id: string }) => (/^[0-9A-Za-z_-]{1,64}$/.test(id) ? id : "");
type Identified = { Params: { id: string } };

export function keyRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get("/keys", async (request) => {
    const { userId } = currentSession(request);
    return { keys: (await listKeys(deps.pool)).map((key) => show(key, userId)) };
  });

  /** Jobs, comments and merges name who made them by an address or an id; people know each other by name. */
  app.get("/names", async (request): Promise<DashboardNames> => {
    // A viewer does not learn everybody's address.
    const { role, userId } = currentSession(request);
    const { rows } = await deps.pool.query<DashboardNames["people"][number]>(
      `select email, name, role <> 'viewer' as "mayReview" from users
       where name <> '' and ($1 or id = $2) order by email limit 1000`,
      [isAtLeast(role, "maintainer"), userId],
    );
    return { people: rows, keys: (await listKeys(deps.pool)).map(({ id, name }) => ({ id, name })) };
  });

  app.post("/keys", async (request, reply) => {
    const input = wanted(request, parseNew(request.body));
    return answer(reply, await createKey(asActor(deps.pool, actorOf(request)), input));
  });

  app.post<Identified>("/keys/:id/rotate", async (request, reply) => {
    const { overlapDays, ...rest } = parseRotation(request.body);
    const input = { ...wanted(request, rest), overlapMs: inMs(overlapDays) };
    const outcome = await inTransactionAs(deps.pool, actorOf(request), (client) =>
      rotateKey(client, idOf(request.params), input),
    );
    return answer(reply, outcome);
  });

  app.post<Identified>("/keys/:id/revoke", { config: { role: "viewer" } }, async (request) => {
    const { role, userId } = currentSession(request);
    const db = asActor(deps.pool, actorOf(request));
    const mayRevokeAll = isAtLeast(role, "maintainer");
    const outcome = await revokeKey(db, idOf(request.params), mayRevokeAll ? {} : { userId: userId ?? "" });
    if (outcome.kind !== "unknown_key") return {};
    if (!mayRevokeAll) {
      throw new AppError("forbidden", { publicMessage: "Viewers can revoke only programs that they connected." });
    }
    throw new AppError("not_found", { publicMessage: "Key not found." });
  });
}

function wanted(request: FastifyRequest, { expiresInDays, ...rest }: ReturnType<typeof parseNew>): CreateKeyInput {
  return { ...rest, expiresInMs: inMs(expiresInDays), createdBy: subjectOf(request) };
}

function inMs(days: number | null): number | null {
  return days === null ? null : days * dayMs;
}

function answer(reply: FastifyReply, outcome: Awaited<ReturnType<typeof rotateKey>>): FastifyReply {
  if (outcome.kind === "created") return reply.code(201).send({ id: outcome.id, key: outcome.key });
  const words = outcome.kind === "unknown_key" ? "Key not found." : `There is no project ${outcome.projectId}.`;
  throw new AppError("not_found", { publicMessage: words });
}

function show({ userId, ...key }: AdminKey, asker: string | null): DashboardKey {
  const time = (at: Date | null) => at?.toISOString() ?? null;
  return {
    ...key,
    isMine: userId !== null && userId === asker,
    createdAt: key.createdAt.toISOString(),
    expiresAt: time(key.expiresAt),
    lastUsedAt: time(key.lastUsedAt),
    revokedAt: time(key.revokedAt),
  };
}
