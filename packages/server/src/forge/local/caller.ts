import type { FastifyReply, FastifyRequest } from "fastify";
import type { Queryable } from "../../db/pool.ts";
import { isProjectId } from "./repository.ts";

/** The permissions of a valid API key. */
interface KeyGrant {
  readonly keyId: string;
  readonly projectIds: ReadonlySet<string>;
  readonly scope: "read" | "write";
}

export interface AccessDeps {
  pool: Queryable;
  /** Accepts `Bearer <key>`, and `Basic` with the key as the password. */
  authenticateKey(request: FastifyRequest): KeyGrant | null | Promise<KeyGrant | null>;
}

interface Asked {
  projectId: string;
  right: "read" | "write";
}

/**
 * Authorizes a request by API key. Returns the key's name for the audit log and limits, or null if a refusal was sent.
 * Browser sessions are not accepted here.
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

/** Git prints the response, so it is plain text. */
export function say(reply: FastifyReply, status: number, words: string): FastifyReply {
  return reply.code(status).type("text/plain; charset=utf-8").send(`${words}\n`);
}

/** False if the project does not exist or is on another forge. */
async function isLocalProject(db: Queryable, id: string): Promise<boolean> {
  if (!isProjectId(id)) return false;
  const { rowCount } = await db.query({
    name: "find-local-project",
    text: "select from projects where id = $1 and forge = 'local'",
    values: [id],
  });
  return rowCount === 1;
}
