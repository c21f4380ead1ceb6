import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { passingCookie, readPassingCookie } from "../../accounts/session-cookie.ts";
import { journeyMinutes } from "../../accounts/single-sign-on/journey.ts";
import { logInIdentity } from "../../accounts/single-sign-on/log-in-identity.ts";
import { isAppError } from "../../errors.ts";
import { disconnectSignal } from "../../http/disconnect-signal.ts";
import type { AccountsDeps } from "../accounts-plugin.ts";
import { keepSession } from "../keep-session.ts";
import { pathInApp } from "../path-in-app.ts";

/** To the identity provider and back. Pages, not JSON: the browser itself goes there. */
export function singleSignOnRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  if (!deps.singleSignOn) return;
  const { singleSignOn } = deps;
  const redirectUrl = () => `${deps.publicUrl()}/dashboard/api/auth/single-sign-on/return`;
  const options = { exposeHeadRoute: false };

  app.get("/single-sign-on", options, async (request, reply) =>
    orLoginPage(request, reply, async () => {
      const landsOn = pathInApp((request.query as Record<string, unknown>).to);
      const asked = { landsOn, redirectUrl: redirectUrl() };
      const { location, sealed } = await singleSignOn.start(asked, disconnectSignal(reply));
      reply.header("set-cookie", passingCookie(deps.publicUrl(), sealed, journeyMinutes * 60));
      return reply.redirect(location, 302);
    }),
  );

  app.get("/single-sign-on/return", options, async (request, reply) =>
    orLoginPage(request, reply, async () => {
      const sealed = readPassingCookie(deps.publicUrl(), request.headers.cookie);
      const back = { sealed, query: request.query as Record<string, unknown>, redirectUrl: redirectUrl() };
      const { identity, landsOn } = await singleSignOn.finish(back, disconnectSignal(reply));
      const token = await logInIdentity(deps, {
        identity,
        rules: singleSignOn,
        address: request.ip,
        replaces: deps.sessions.tokenOf(request.headers.cookie),
      });
      await keepSession(deps, reply, token);
      return reply
        .header("set-cookie", passingCookie(deps.publicUrl(), "", 0))
        .header("referrer-policy", "no-referrer")
        .redirect(`${deps.publicUrl()}${landsOn}`, 303);
    }),
  );

  /** What goes wrong is told on the login page, in words. */
  async function orLoginPage(request: FastifyRequest, reply: FastifyReply, work: () => Promise<FastifyReply>) {
    try {
      return await work();
    } catch (error) {
      if (!isAppError(error) || error.code === "internal") throw error;
      deps.log.warn({ err: error, address: request.ip }, "single sign-on refused");
      const problem = new URLSearchParams({ problem: singleSignOn.sealWords(error.publicMessage) });
      return reply
        .header("set-cookie", passingCookie(deps.publicUrl(), "", 0))
        .redirect(`${deps.publicUrl()}/app/login?${problem}`, 303);
    }
  }
}
