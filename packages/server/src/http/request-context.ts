import type { KeyGrant } from "../accounts/admin-key.ts";
import type { Project } from "../accounts/project.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `require-key.ts`, before the body is read. */
    grant: KeyGrant | null;
    /** Set by `require-key.ts` on routes that ask for it. */
    project: Project | null;
  }
}
