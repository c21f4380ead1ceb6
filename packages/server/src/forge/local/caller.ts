import type { Queryable } from "../../db/pool.ts";
import { isProjectId } from "./repository.ts";

/** What a valid API key grants. */
interface KeyGrant {
  readonly keyId: string;
  readonly projectIds: ReadonlySet<string>;
  readonly scope: "read" | "write";
}

/** As much of a request as it takes to know who sends it. */
export interface Bearer {
  readonly headers: { readonly authorization?: string | undefined; readonly cookie?: string | undefined };
  readonly ip: string;
}

/** Who may do what is known elsewhere; these are the doors to it, given by `compose.ts`. */
export interface AccessDeps {
  /** Takes `Bearer <key>`, and `Basic` with the key as the password. */
  authenticateKey(bearer: Bearer): KeyGrant | null | Promise<KeyGrant | null>;
  sessions: {
    find(cookieHeader: string | undefined): Promise<{ subject: string; role: string } | null>;
    claim(
      token: string,
      cookieHeader: string | undefined,
      address: string,
    ): Promise<
      { kind: "claimed"; location: string; cookie: string } | { kind: "asks"; location: string } | { kind: "gone" }
    >;
    end(cookieHeader: string | undefined): Promise<string>;
  };
}

/** Somebody with a key or a session. A session may do everything, unless it is a viewer's, who reads. */
export interface Caller {
  /** For the record of who merged. */
  name: string;
  session: { subject: string } | null;
  mayRead(projectId: string): boolean;
  mayWrite(projectId: string): boolean;
}

/** Null: neither a key nor a session. Where a key is sent, it alone counts. */
export async function findCaller(deps: AccessDeps, bearer: Bearer): Promise<Caller | null> {
  if (bearer.headers.authorization !== undefined) return findKeyHolder(deps, bearer);
  const session = await deps.sessions.find(bearer.headers.cookie);
  if (!session) return null;
  return { name: session.subject, session, mayRead: () => true, mayWrite: () => session.role !== "viewer" };
}

export async function findKeyHolder(deps: Pick<AccessDeps, "authenticateKey">, bearer: Bearer): Promise<Caller | null> {
  const grant = await deps.authenticateKey(bearer);
  if (!grant) return null;
  return {
    name: `key ${grant.keyId}`,
    session: null,
    mayRead: (projectId) => grant.projectIds.has(projectId),
    mayWrite: (projectId) => grant.projectIds.has(projectId) && grant.scope === "write",
  };
}

export interface LocalProject {
  id: string;
  name: string;
}

/** Null where there is no such project, or another forge has its repository. */
export async function findLocalProject(db: Queryable, id: string): Promise<LocalProject | null> {
  if (!isProjectId(id)) return null;
  const { rows } = await db.query<LocalProject>({
    name: "find-local-project",
    text: "select id, name from projects where id = $1 and forge = 'local'",
    values: [id],
  });
  return rows[0] ?? null;
}

/** Every project whose repository is here, by name. */
export async function listLocalProjects(
  db: Queryable,
): Promise<readonly (LocalProject & { openPullRequests: number })[]> {
  const { rows } = await db.query<LocalProject & { openPullRequests: number }>(
    `select id, name, (
       select count(*)::int from local_pull_requests where project_id = projects.id and state = 'open'
     ) as "openPullRequests"
     from projects where forge = 'local' order by name, id limit 1000`,
  );
  return rows;
}
