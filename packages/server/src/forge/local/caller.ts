import type { FastifyReply, FastifyRequest } from "fastify";
import type { Queryable } from "../../db/pool.ts";
import { isProjectId } from "./repository.ts";

/** What a valid API key grants. */
interface KeyGrant {
  readonly keyId: string;
  readonly projectIds: ReadonlySet<string>;
  readonly scope: "read" | "write";
}

export interface AccessDeps {
  pool: Queryable;
  /** Takes `Bearer <key>`, and `Basic` with the key as the password. */
  authenticateKey(request: FastifyRequest): KeyGrant | null | Promise<KeyGrant | null>;
}

interface Asked {
  projectId: string;
  right: "read" | "write";
}

/**
 * The name of the key that may do this, for the record and the limits; null where the refusal has been sent. Programs alone
 * come here: a browser's session counts for nothing.
 */
export async function admitKey(
  deps: AccessDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { projectId, right }: Asked,
): Promise<string | null> {
  const grant = await deps.authenticateKey(request);
  if (!grant) {
    reply.header("www-authenticate", 'Basic realm="Emend: any user name, an API key as the password"');
    return refuse(reply, 401, "an API key is required: use it as the password, with any user name");
  }
  const isThere = grant.projectIds.has(projectId) && (await isLocalProject(deps.pool, projectId));
  if (!isThere) return refuse(reply, 404, "repository not found");
  if (right === "write" && grant.scope !== "write") {
    return refuse(reply, 403, "this key is read-only and cannot push");
  }
  return `key ${grant.keyId}`;
}

function refuse(reply: FastifyReply, status: number, words: string): null {
  say(reply, status, words);
  return null;
}

/** Git prints what it is told, so plain text it is. */
export function say(reply: FastifyReply, status: number, words: string): FastifyReply {
  return reply.code(status).type("text/plain; charset=utf-8").send(`${words}\n`);
}

/** False where there is no such project, or another forge has its repository. */
async function isLocalProject(db: Queryable, id: string): Promise<boolean> {
  if (!isProjectId(id)) return false;
  const { rowCount } = await db.query({
    name: "find-local-project",
    text: "select from projects where id = $1 and forge = 'local'",
    values: [id],
  });
  return rowCount === 1;
}
