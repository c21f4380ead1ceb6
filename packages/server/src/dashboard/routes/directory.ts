import type { DashboardDirectory } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { connectMember, listWaiting, setDirectorySettings } from "../../accounts/directory/directory-access.ts";
import { readDirectorySettings } from "../../accounts/directory/directory-settings.ts";
import {
  createDirectoryToken,
  listDirectoryTokens,
  revokeDirectoryToken,
} from "../../accounts/directory/directory-tokens.ts";
import { countDirectory } from "../../accounts/directory/directory-users.ts";
import { roles } from "../../accounts/people/user.ts";
import { AppError } from "../../errors.ts";
import type { AccountsDeps } from "../dashboard.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf } from "../require-session.ts";

const RoleName = Type.Enum([...roles]);
const parseToken = bodyParser(Type.Object({ name: Type.String({ maxLength: 1000 }) }));
const parseMember = bodyParser(Type.Object({ email: Type.String({ maxLength: 1000 }) }));
const parseSettings = bodyParser(
  Type.Object({
    defaultRole: Type.Union([RoleName, Type.Null()]),
    groups: Type.Array(Type.Object({ name: Type.String({ maxLength: 1000 }), role: RoleName }), { maxItems: 1000 }),
  }),
);
const byOwner = { config: { role: "owner" } } as const;

/** The directory of an identity provider (SCIM): its tokens, and which group gives which role. */
export function directoryRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  const { pool } = deps;

  async function show(): Promise<DashboardDirectory> {
    const [tokens, settings, counts, waiting] = await Promise.all([
      listDirectoryTokens(pool),
      readDirectorySettings(pool),
      countDirectory(pool),
      listWaiting(pool),
    ]);
    return {
      url: `${deps.publicUrl()}/scim/v2`,
      ...settings,
      ...counts,
      waiting,
      tokens: tokens
        .filter(({ revokedAt }) => revokedAt === null)
        .map(({ revokedAt: _, ...token }) => ({
          ...token,
          createdAt: token.createdAt.toISOString(),
          lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
        })),
    };
  }

  app.get("/directory", byOwner, show);

  app.patch("/directory", byOwner, async (request) => {
    await setDirectorySettings(pool, parseSettings(request.body), actorOf(request));
    return show();
  });

  app.post("/directory/tokens", byOwner, async (request, reply) => {
    const made = await createDirectoryToken(pool, parseToken(request.body), actorOf(request));
    return reply.code(201).send(made);
  });

  app.post<{ Params: { id: string } }>("/directory/people/:id/connect", byOwner, async (request) => {
    const { email } = parseMember(request.body);
    await connectMember(pool, { id: request.params.id, email }, actorOf(request));
    return show();
  });

  app.post<{ Params: { id: string } }>("/directory/tokens/:id/revoke", byOwner, async (request) => {
    const { id } = request.params;
    if (/^\w{1,64}$/.test(id) && (await revokeDirectoryToken(pool, id, actorOf(request)))) return {};
    throw new AppError("not_found", { publicMessage: "Token not found." });
  });
}
