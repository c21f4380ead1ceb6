import type { Queryable } from "../db/pool.ts";
import type { Sealer } from "./secrets.ts";

/** The forge token of a project, or null where it has none. */
export async function openProjectCredential(
  deps: { db: Queryable; sealer: Sealer },
  projectId: string,
): Promise<string | null> {
  const { rows } = await deps.db.query<{ credential: Buffer | null }>("select credential from projects where id = $1", [
    projectId,
  ]);
  const sealed = rows[0]?.credential;
  return sealed ? deps.sealer.open(sealed, credentialContext(projectId)) : null;
}

export function credentialContext(projectId: string): string {
  return `project/${projectId}/credential`;
}
