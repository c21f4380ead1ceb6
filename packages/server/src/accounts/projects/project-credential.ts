import type { Queryable } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import type { Sealer } from "../secrets.ts";

/** A project's forge token. Null if it has none. */
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

/** Replaces a project's forge token. It is encrypted in the database. */
export async function setProjectCredential(
  deps: { db: Queryable; sealer: Sealer },
  projectId: string,
  credential: string,
): Promise<void> {
  const { rowCount } = await deps.db.query("update projects set credential = $2 where id = $1", [
    projectId,
    deps.sealer.seal(credential, credentialContext(projectId)),
  ]);
  if (rowCount === 0) throw new AppError("not_found", { publicMessage: "Project not found." });
}
