import type { FastifyInstance } from "fastify";
import { isSameOrigin } from "./csrf.ts";
import { pageContext, type Style, sendForeignOrigin, sendNotice } from "./page-reply.ts";
import type { PluginDeps } from "./plugin-deps.ts";

/** The console's single-use link, and the way out. */
export function loginRoutes(app: FastifyInstance, deps: PluginDeps, style: Style): void {
  const context = pageContext.bind(null, deps, style, null);

  app.get<{ Params: { token: string } }>(
    "/login/:token",
    // HEAD must not spend a link, and no log may hold one.
    { exposeHeadRoute: false, logLevel: "silent" },
    async (request, reply) => {
      // Browsers fetch ahead what they think will be clicked: that is not the click.
      if (/prefetch|prerender/.test(String(request.headers["sec-purpose"] ?? ""))) return reply.code(503).send();
      const claimed = await deps.sessions.claim(request.params.token, request.headers.cookie, request.ip);
      if (claimed.kind === "gone") return sendNotice(reply, context(), "linkGone");
      return reply
        .headers({
          ...(claimed.kind === "claimed" && { "set-cookie": claimed.cookie }),
          "cache-control": "no-store",
          "referrer-policy": "no-referrer",
        })
        .redirect(claimed.location, 303);
    },
  );

  app.post("/logout", async (request, reply) => {
    if (!isSameOrigin(request, deps.publicUrl())) return sendForeignOrigin(reply, context(), deps.publicUrl());
    reply.header("set-cookie", await deps.sessions.end(request.headers.cookie));
    return sendNotice(reply, context(), "signIn");
  });
}
