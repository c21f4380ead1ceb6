import { addressUsed } from "@emend/base/network.ts";
import type { DashboardLink, DashboardLoggedIn, DashboardLogin, DashboardSession } from "@emend/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Type } from "typebox";
import { hasPasskeys, passkeySite } from "../../accounts/factors/passkeys.ts";
import { type Entry, finishLogin, loginExpired } from "../../accounts/factors/second-step.ts";
import { acceptLink, findLink, hasOwner } from "../../accounts/people/login-links.ts";
import { findMember } from "../../accounts/people/members.ts";
import { logIn } from "../../accounts/sessions/log-in.ts";
import { AppError } from "../../errors.ts";
import { version } from "../../lib/version.ts";
import { readEmailsJobs, setEmailsJobs } from "../../notify/email.ts";
import type { AccountsDeps, RouteDeps } from "../dashboard.ts";
import { bodyParser } from "../parse-request.ts";
import { plainPages, sendPage } from "../plain-page.ts";
import { currentSession, keepSession } from "../require-session.ts";

const parseLogin = bodyParser(
  Type.Object({ email: Type.String({ maxLength: 1000 }), password: Type.String({ maxLength: 1000 }) }),
);

const parseSecondStep = bodyParser(
  Type.Object({ token: Type.String({ maxLength: 100 }), code: Type.String({ maxLength: 100 }) }),
);

export function loginRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  /** The login page's options. */
  app.get<{ Querystring: { problem?: unknown } }>("/", async (request): Promise<DashboardLogin> => {
    const { singleSignOn } = deps;
    const { problem } = request.query;
    return {
      hasOwner: await hasOwner(deps.pool),
      takesPasskeys: passkeySite(deps.publicUrl()) !== null && (await hasPasskeys(deps.pool)),
      singleSignOn: singleSignOn && { name: singleSignOn.name },
      problem: typeof problem === "string" ? (singleSignOn?.openWords(problem) ?? null) : null,
    };
  });

  app.post("/login", async (request, reply): Promise<DashboardLoggedIn> => {
    const { email, password } = parseLogin(request.body);
    const replaces = deps.sessions.tokenOf(request.headers.cookie);
    const device = await deps.devices.find(request.headers.cookie);
    const outcome = await logIn(deps, { email, password, address: request.ip, device, replaces });
    switch (outcome.kind) {
      case "logged_in":
      case "needs_factor":
        return enter(deps, reply, outcome);
      case "refused":
        throw new AppError("unauthorized", { publicMessage: "The email address or the password is wrong." });
      case "throttled":
        throw new AppError("rate_limited", {
          publicMessage: `Too many wrong passwords. Try again in ${inMinutes(outcome.retryAfterMs)}, or ask an administrator for a login link: emend user link.`,
          retryAfterMs: outcome.retryAfterMs,
        });
    }
  });

  app.post("/second-step", async (request, reply): Promise<DashboardLoggedIn> => {
    const { token, code } = parseSecondStep(request.body);
    const outcome = await finishLogin(deps, {
      pendingToken: token,
      code,
      address: request.ip,
      device: await deps.devices.find(request.headers.cookie),
      replaces: deps.sessions.tokenOf(request.headers.cookie),
    });
    switch (outcome.kind) {
      case "logged_in":
        return enter(deps, reply, outcome);
      case "refused":
        throw new AppError("unauthorized", {
          publicMessage: "The code is wrong or was used. Wait for the next one, or use a recovery code.",
        });
      case "gone":
        throw loginExpired();
      case "throttled":
        throw new AppError("rate_limited", {
          publicMessage: `Too many wrong codes. Try again in ${inMinutes(outcome.retryAfterMs)}, or ask an administrator for a login link: emend user link.`,
          retryAfterMs: outcome.retryAfterMs,
        });
    }
  });
}

/** A session's cookies, or what the second step needs. */
export async function enter(deps: AccountsDeps, reply: FastifyReply, entry: Entry): Promise<DashboardLoggedIn> {
  if (entry.kind === "needs_factor") {
    const { pendingToken: token, hasApp, hasPasskey } = entry;
    const setUp = hasApp || hasPasskey ? null : { allowsPasskeys: passkeySite(deps.publicUrl()) !== null };
    return { secondStep: { token, hasApp, hasPasskey, setUp } };
  }
  await keepSession(deps, reply, entry.sessionToken);
  return { secondStep: null };
}

function inMinutes(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}

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

/** Single-use links that ask something first: become the owner, join, reset a password. */
export function linkRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  // The token is in the body, because URLs are logged.
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
    return reply.code(201).send(await enter(deps, reply, outcome));
  });
}

/** The console's single-use link, which a person opens as a page. */
export function loginLinkRoute(app: FastifyInstance, deps: Pick<AccountsDeps, "sessions" | "publicUrl">): void {
  app.get<{ Params: { token: string } }>(
    "/login/:token",
    // HEAD must not use up a link, and no log may contain one.
    { exposeHeadRoute: false, logLevel: "silent" },
    async (request, reply) => {
      // Browsers prefetch links; that must not use up the link.
      if (/prefetch|prerender/.test(String(request.headers["sec-purpose"] ?? ""))) return reply.code(503).send();
      const publicUrl = deps.publicUrl();
      const claimed = await deps.sessions.claim(request.params.token, request.headers.cookie, request.ip);
      if (claimed.kind === "gone") return sendPage(reply, 410, plainPages.linkGone);
      return (
        reply
          .headers({
            ...(claimed.kind === "claimed" && { "set-cookie": claimed.cookie }),
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
          })
          // Redirects to the host that the browser used: its cookie is valid only for that name.
          .redirect(`${addressUsed(request.headers, publicUrl)}${claimed.location.slice(publicUrl.length)}`, 303)
      );
    },
  );
}

function sendGone(reply: FastifyReply): FastifyReply {
  return reply
    .code(410)
    .header("emend-error", "gone")
    .send({ error: "This link was used, has expired or is incomplete." });
}

const parseNotifications = bodyParser(Type.Object({ emailsJobs: Type.Boolean() }));

export function sessionRoute(app: FastifyInstance, deps: RouteDeps): void {
  app.get("/session", async (request): Promise<DashboardSession> => {
    const { subject, role, userId } = currentSession(request);
    const member = userId === null ? null : await findMember(deps.pool, userId);
    return {
      subject,
      role,
      name: member?.name ?? null,
      hasPassword: member?.hasPassword ?? false,
      emailsJobs: userId === null || !deps.sendsEmail ? null : await readEmailsJobs(deps.pool, userId),
      publicUrl: deps.publicUrl(),
      cell: deps.cell,
      version,
      command: deps.typed.command,
      dataDir: role === "owner" ? deps.typed.dataDir : null,
    };
  });
  app.post("/notifications", { config: { role: "viewer" } }, async (request) => {
    const { emailsJobs } = parseNotifications(request.body);
    const { userId } = currentSession(request);
    if (userId === null || !deps.sendsEmail) {
      const publicMessage = deps.sendsEmail
        ? "A login link opened this session, so it has no email address."
        : "No mail server is configured. Set EMEND_SMTP_URL and EMEND_SMTP_FROM.";
      throw new AppError("conflict", { publicMessage });
    }
    await setEmailsJobs(deps.pool, userId, emailsJobs);
    return {};
  });
  app.post("/session/end", { config: { role: "viewer" } }, async (request, reply) => {
    reply.header("set-cookie", await deps.sessions.end(request.headers.cookie));
    return {};
  });
}
