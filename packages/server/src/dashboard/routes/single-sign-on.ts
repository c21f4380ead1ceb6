import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { passingCookie, readPassingCookie } from "../../accounts/sessions/sessions.ts";
import { logInIdentity } from "../../accounts/single-sign-on/log-in-identity.ts";
import { journeyMinutes, type SingleSignOn } from "../../accounts/single-sign-on/single-sign-on.ts";
import { AppError, isAppError } from "../../errors.ts";
import type { AccountsDeps } from "../dashboard.ts";
import { pathInApp } from "../parse-request.ts";
import { keepSession } from "../require-session.ts";

const options = { exposeHeadRoute: false };

/** To the identity provider and back. Pages, not JSON: the browser itself goes there. */
export function singleSignOnRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  if (!deps.singleSignOn) return;
  const { singleSignOn } = deps;
  const redirectUrl = () => `${deps.publicUrl()}/dashboard/api/auth/single-sign-on/return`;
  const orLoginPage = loginPageOnError(deps, singleSignOn);

  app.get("/single-sign-on", options, async (request, reply) =>
    orLoginPage(request, reply, async () => {
      const landsOn = pathInApp((request.query as Record<string, unknown>).to);
      const { location, sealed } = await singleSignOn.start({ landsOn, redirectUrl: redirectUrl() });
      reply.header("set-cookie", passingCookie(deps.publicUrl(), sealed, journeyMinutes * 60));
      return reply.redirect(location, 302);
    }),
  );

  app.get("/single-sign-on/return", options, async (request, reply) =>
    orLoginPage(request, reply, async () => {
      const sealed = readPassingCookie(deps.publicUrl(), request.headers.cookie);
      const back = { sealed, query: request.query as Record<string, unknown>, redirectUrl: redirectUrl() };
      const { identity, landsOn } = await singleSignOn.finish(back);
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
}

const postedBytesMax = 256 * 1024;

/** What a SAML provider reads, and where its form is posted: from its site, so without our cookies. */
export function samlRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  if (!deps.singleSignOn?.saml) return;
  const { singleSignOn } = deps;
  const { saml } = deps.singleSignOn;
  const orLoginPage = loginPageOnError(deps, singleSignOn);
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: postedBytesMax },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );

  app.get("/metadata", options, async (_request, reply) =>
    reply.type("application/samlmetadata+xml").send(saml.metadata()),
  );

  const tooLarge = new AppError("payload_too_large", {
    publicMessage: `The identity provider's response is larger than ${postedBytesMax / 1024} KiB. Have it send fewer attributes and groups to Emend.`,
  });
  const errorHandler = async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    if (error.code !== "FST_ERR_CTP_BODY_TOO_LARGE") throw error;
    return orLoginPage(request, reply, () => Promise.reject(tooLarge));
  };
  app.post("/acs", { errorHandler }, async (request, reply) =>
    orLoginPage(request, reply, async () => {
      const posted = request.body instanceof URLSearchParams ? request.body.get("SAMLResponse") : null;
      if (!posted) {
        throw new AppError("invalid_request", {
          publicMessage: "The identity provider sent no SAML response. Start again.",
        });
      }
      // Its RelayState is not read: where to land is in the cookie of the browser that left.
      const arrival = new URLSearchParams({ arrival: await saml.receive(posted) });
      return reply
        .header("referrer-policy", "no-referrer")
        .redirect(`${deps.publicUrl()}/dashboard/api/auth/single-sign-on/return?${arrival}`, 303);
    }),
  );
}

/** Errors are shown on the login page. */
function loginPageOnError(deps: AccountsDeps, singleSignOn: SingleSignOn) {
  return async (request: FastifyRequest, reply: FastifyReply, work: () => Promise<FastifyReply>) => {
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
  };
}
