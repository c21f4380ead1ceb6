import { listProjectsOperation, type ProjectList } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { authenticateKey, type Keyring } from "../../accounts/keys/keyring.ts";
import type { Queryable } from "../../db/pool.ts";
import { refuse, unauthorized } from "../errors.ts";
import { sendJson } from "../send-json.ts";

/** The projects of the caller's key, so that a client can find a project by name or use the only one. */
export function listProjectsRoute(app: FastifyInstance, deps: { keyring: Keyring; db: Queryable }): void {
  app.get("/v2/projects", { schema: listProjectsOperation }, async (request, reply) => {
    const grant = await authenticateKey(deps.keyring, request);
    if (grant === null) return refuse(reply, unauthorized);
    const { rows } = await deps.db.query<ProjectList["projects"][number]>(
      `select id, name, repository_url as repository, base_ref as "baseRef" from projects
       where id = any ($1::text[]) order by created_at, id`,
      [[...grant.projectIds]],
    );
    return sendJson(reply, JSON.stringify({ projects: rows } satisfies ProjectList));
  });
}
