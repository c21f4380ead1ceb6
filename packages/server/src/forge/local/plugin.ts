import type { FastifyInstance } from "fastify";
import { pageErrors } from "./routes/error-pages.ts";
import { gitRoutes } from "./routes/git-routes.ts";
import { loginRoutes } from "./routes/login-routes.ts";
import { readStyle } from "./routes/page-reply.ts";
import type { PluginDeps } from "./routes/plugin-deps.ts";
import { pullRoutes } from "./routes/pull-routes.ts";

const formBytesMax = 16 * 1024;

/** The local forge's pages and its git endpoints. Register it encapsulated: it brings parsers of its own. */
export function localForgePlugin(deps: PluginDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    const style = readStyle();
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: formBytesMax },
      async (_request: unknown, body: string | Buffer) => String(body),
    );
    app.get(style.path, async (_request, reply) =>
      reply
        .headers({ "cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff" })
        .type("text/css; charset=utf-8")
        .send(style.text),
    );
    app.setErrorHandler(pageErrors(deps, style));
    gitRoutes(app, deps);
    loginRoutes(app, deps, style);
    pullRoutes(app, deps, style);
  };
}
