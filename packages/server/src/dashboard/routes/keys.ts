import type { DashboardKey } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { AdminKey } from "../../accounts/admin-key.ts";
import { createKey } from "../../accounts/create-key.ts";
import { listKeys } from "../../accounts/list-keys.ts";
import { revokeKey } from "../../accounts/revoke-key.ts";
import { AppError } from "../../errors.ts";
import type { RouteDeps } from "../dashboard.ts";
import { bodyParser } from "../parse-body.ts";
import { subjectOf } from "../require-session.ts";

const dayMs = 24 * 60 * 60 * 1000;
const Id = Type.String({ pattern: "^[0-9A-Za-z_-]{1,64}$" });
const parseNew = bodyParser(
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 200, pattern: "^[^\\x00-\\x1f]*$" }),
    projectIds: Type.Array(Id, { minItems: 1, maxItems: 1000 }),
    scope: Type.Enum(["read", "write"] as const),
    /** Null: never. */
    expiresInDays: Type.Union([Type.Integer({ minimum: 1, maximum: 3650 }), Type.Null()]),
    /** Null: every address. */
    allowList: Type.Union([Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 }), Type.Null()]),
  }),
);
const isId = (text: string) => /^[0-9A-Za-z_-]{1,64}$/.test(text);

export function keyRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get("/keys", async () => ({ keys: (await listKeys(deps.pool)).map(show) }));

  app.post("/keys", async (request, reply) => {
    const { expiresInDays, ...rest } = parseNew(request.body);
    const outcome = await createKey(deps.pool, {
      ...rest,
      expiresInMs: expiresInDays === null ? null : expiresInDays * dayMs,
      createdBy: subjectOf(request),
    });
    if (outcome.kind === "created") return reply.code(201).send({ id: outcome.id, key: outcome.key });
    throw new AppError("not_found", { publicMessage: `There is no project ${outcome.projectId}.` });
  });

  app.post<{ Params: { id: string } }>("/keys/:id/revoke", async (request) => {
    const { id } = request.params;
    const outcome = isId(id) ? await revokeKey(deps.pool, id) : null;
    if (outcome?.kind === "revoked") return {};
    throw new AppError("not_found", { publicMessage: "Key not found." });
  });
}

function show(key: AdminKey): DashboardKey {
  const time = (at: Date | null) => at?.toISOString() ?? null;
  return {
    ...key,
    createdAt: key.createdAt.toISOString(),
    expiresAt: time(key.expiresAt),
    lastUsedAt: time(key.lastUsedAt),
    revokedAt: time(key.revokedAt),
  };
}
