import type { DashboardLink } from "@emend/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Type } from "typebox";
import { acceptLink } from "../../accounts/accept-link.ts";
import { findLink } from "../../accounts/links.ts";
import type { AccountsDeps } from "../accounts-plugin.ts";
import { keepSession } from "../keep-session.ts";
import { bodyParser } from "../parse-body.ts";

const Token = Type.String({ maxLength: 100 });
const parseLook = bodyParser(Type.Object({ token: Token }));
const parseAcceptance = bodyParser(
  Type.Object({
    token: Token,
    email: Type.Optional(Type.String({ maxLength: 1000 })),
    name: Type.Optional(Type.String({ maxLength: 1000 })),
    password: Type.String({ maxLength: 10_000 }),
  }),
);

/** Single-use links that ask something first: to become the owner, to join, to set a new password. */
export function linkRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  // The token comes in the body: addresses are logged.
  app.post("/link", async (request, reply) => {
    const link = await findLink(deps.pool, parseLook(request.body).token);
    if (!link || link.purpose === "login") return sendGone(reply);
    const shown: DashboardLink = {
      purpose: link.purpose,
      email: link.purpose === "owner" ? null : link.email,
      role: link.purpose === "invite" ? link.role : null,
    };
    return shown;
  });

  app.post("/accept", async (request, reply) => {
    const replaces = deps.sessions.tokenOf(request.headers.cookie);
    const outcome = await acceptLink(deps, { ...parseAcceptance(request.body), address: request.ip, replaces });
    if (outcome.kind === "gone") return sendGone(reply);
    await keepSession(deps, reply, outcome.sessionToken);
    return reply.code(201).send({});
  });
}

function sendGone(reply: FastifyReply): FastifyReply {
  return reply.code(410).header("emend-error", "gone").send({ error: "This link has been used or has expired." });
}
