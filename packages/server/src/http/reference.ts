import { randomBytes } from "node:crypto";
import { type FastifyInstance, fastify } from "fastify";

/**
 * The reference page at `/reference`. It and all it loads come from here: it works without the internet, and tells nobody.
 * Its maker's plugin holds four megabytes of script, so it lives in a server of its own that is made when first asked.
 */
export function serveReference(app: FastifyInstance): void {
  let opened: Promise<FastifyInstance> | undefined;
  const nonce = randomBytes(16).toString("base64");
  for (const path of ["/reference/", "/reference/js/scalar.js"]) {
    app.get(path, async ({ url }, reply) => {
      // What the page names is found beside it only below a slash.
      if (url.split("?", 1)[0]?.endsWith("/reference")) return reply.code(301).header("location", "reference/").send();
      opened ??= openReference(nonce);
      const { headers, rawPayload } = await (await opened).inject(path);
      return reply
        .header("content-type", headers["content-type"])
        .header("content-security-policy", contentPolicy(nonce))
        .header("x-content-type-options", "nosniff")
        .send(rawPayload);
    });
  }
}

async function openReference(nonce: string): Promise<FastifyInstance> {
  const { default: scalarReference } = await import("@scalar/fastify-api-reference");
  const configuration = {
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
  } as const;
  const app = fastify();
  app.register(scalarReference, { routePrefix: "/reference", configuration });
  await app.ready();
  return app;
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
