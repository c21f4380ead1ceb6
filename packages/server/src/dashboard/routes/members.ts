import type { DashboardMembers } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import {
  changeRole,
  inviteMember,
  listInvitations,
  listMembers,
  removeMember,
  revokeInvitation,
} from "../../accounts/people/members.ts";
import { roles } from "../../accounts/people/user.ts";
import { AppError } from "../../errors.ts";
import type { AccountsDeps } from "../dashboard.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf, currentSession } from "../require-session.ts";

const RoleName = Type.Enum([...roles]);
const parseInvitation = bodyParser(Type.Object({ email: Type.String({ maxLength: 1000 }), role: RoleName }));
const parseRole = bodyParser(Type.Object({ role: RoleName }));
const byOwner = { config: { role: "owner" } } as const;
type Identified = { Params: { id: string } };

export function memberRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  const { pool } = deps;

  app.get("/members", byOwner, async (request): Promise<DashboardMembers> => {
    const [members, invitations] = await Promise.all([listMembers(pool), listInvitations(pool)]);
    const { userId } = currentSession(request);
    return {
      members: members.map((member) => ({
        ...member,
        isSelf: member.id === userId,
        createdAt: member.createdAt.toISOString(),
        lastLoginAt: member.lastLoginAt?.toISOString() ?? null,
      })),
      invitations: invitations.map((each) => ({ ...each, expiresAt: each.expiresAt.toISOString() })),
    };
  });

  app.post<Identified>("/members/:id/role", byOwner, async (request) => {
    const { role } = parseRole(request.body);
    await changeRole(pool, { id: idOf(request.params.id), role }, actorOf(request));
    return {};
  });

  app.post<Identified>("/members/:id/remove", byOwner, async (request) => {
    await removeMember(pool, idOf(request.params.id), actorOf(request));
    return {};
  });

  app.post("/invitations", byOwner, async (request, reply) => {
    const invitation = parseInvitation(request.body);
    const invited = await inviteMember({ pool, publicUrl: deps.publicUrl() }, invitation, actorOf(request));
    return reply.code(201).send(invited);
  });

  app.post<Identified>("/invitations/:id/revoke", byOwner, async (request) => {
    if (await revokeInvitation(pool, idOf(request.params.id), actorOf(request))) return {};
    throw new AppError("not_found", { publicMessage: "Invitation not found." });
  });
}

/** Ids have a safe form. The database refuses some other texts, such as U+0000. */
function idOf(text: string): string {
  if (/^\w{1,64}$/.test(text)) return text;
  throw new AppError("not_found", { publicMessage: "Member not found." });
}
