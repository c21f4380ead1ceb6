import type { FastifyInstance, FastifyReply } from "fastify";
import { AppError } from "../errors.ts";
import { readAssets } from "./assets.ts";
import type { DashboardDeps } from "./dashboard.ts";
import { unbuiltPage } from "./unbuilt-page.ts";

/** Nothing inline, nothing from elsewhere: what slipped through an escaper would still do nothing. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The dashboard's one page, at every path below `/app`, and the files that it loads. */
export function appRoutes(app: FastifyInstance, deps: Pick<DashboardDeps, "assetsDir" | "publicUrl">): void {
  const assets = readAssets(deps.assetsDir);

  function sendPage(reply: FastifyReply): FastifyReply {
    const basePath = new URL(deps.publicUrl()).pathname.replace(/\/+$/, "");
    return (
      reply
        .headers({
          "content-security-policy": policy,
          "x-content-type-options": "nosniff",
          "x-frame-options": "DENY",
          "referrer-policy": "same-origin",
          "cross-origin-opener-policy": "same-origin",
          "cache-control": "no-store",
        })
        .type("text/html; charset=utf-8")
        .code(assets ? 200 : 503)
        // The build leaves relative links, which would not hold on pages further down.
        .send(assets ? assets.page.replaceAll('"./assets/', `"${basePath}/app/assets/`) : unbuiltPage(basePath))
    );
  }

  app.get("/app", async (_request, reply) => sendPage(reply));
  app.get("/app/*", async (_request, reply) => sendPage(reply));
  app.get<{ Params: { name: string } }>("/app/assets/:name", async (request, reply) => {
    const asset = assets?.files.get(request.params.name);
    if (!asset) throw new AppError("not_found", { publicMessage: "Not found." });
    const isGzipTaken = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
    if (isGzipTaken) reply.header("content-encoding", "gzip");
    return reply
      .headers({
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        vary: "accept-encoding",
      })
      .type(asset.type)
      .send(isGzipTaken ? asset.gzipped : asset.bytes);
  });
}
