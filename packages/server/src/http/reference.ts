import { randomBytes } from "node:crypto";
import scalarReference from "@scalar/fastify-api-reference";
import type { FastifyInstance } from "fastify";

/** The reference page at `/reference`. It and all it loads come from here: it works without the internet, and tells nobody. */
export function serveReference(app: FastifyInstance): void {
  const nonce = randomBytes(16).toString("base64");
  app.register(scalarReference, {
    routePrefix: "/reference",
    hooks: {
      onRequest(request, reply, done) {
        reply.header("content-security-policy", contentPolicy(nonce));
        reply.header("x-content-type-options", "nosniff");
        // The page builds URLs from the Host header, which may be anything.
        request.raw.headers.host = "localhost";
        if (request.url.split("?", 1)[0]?.endsWith("/reference"))
          reply.code(301).header("location", "reference/").send();
        else done();
      },
    },
    configuration: {
      url: "../openapi.json",
      pageTitle: "Emend API reference",
      nonce,
      authentication: { preferredSecurityScheme: "adminKey" },
      // Everything below would ask another server.
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: "never",
      hideClientButton: true,
    },
  });
}

function contentPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
