import type { FastifyRequest } from "fastify";

/**
 * Whether a write comes from one of our own pages. Browsers send Origin with every form that they post, and another
 * site cannot forge it. A request that shows a key has no ambient right to abuse, and needs no Origin.
 */
export function isSameOrigin(request: Pick<FastifyRequest, "headers">, publicUrl: string): boolean {
  const { origin, authorization } = request.headers;
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return false;
  if (origin === undefined) return authorization !== undefined;
  return origin === new URL(publicUrl).origin;
}
