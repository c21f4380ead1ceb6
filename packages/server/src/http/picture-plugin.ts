import type { FastifyInstance } from "fastify";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { readLinkedPicture } from "../jobs/page-pictures.ts";

/** Pictures of pages in pull requests on other hosts, which load them without a login. Each has a link nobody can guess. */
export function picturePlugin(pool: Queryable): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    app.get<{ Params: { link: string } }>("/pictures/:link", async ({ params: { link } }, reply) => {
      const isLink = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(link);
      const picture = isLink ? await readLinkedPicture(pool, link) : null;
      if (!picture) throw new AppError("not_found", { publicMessage: "This picture does not exist any more." });
      // The site's own scripts had a hand in it.
      reply
        .header("content-security-policy", "default-src 'none'; sandbox")
        .header("x-content-type-options", "nosniff");
      reply.header("cross-origin-resource-policy", "cross-origin").header("x-robots-tag", "noindex");
      return reply.header("cache-control", "public, max-age=86400, immutable").type("image/webp").send(picture);
    });
  };
}
