import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { credentialContext } from "./project-credential.ts";
import type { Sealer } from "./secrets.ts";

/** Puts a new forge token in the old one's place; stored sealed. */
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
