import type { Queryable } from "../../db/pool.ts";
import type { Sealer } from "../secrets.ts";

/** A project's own key for a model vendor. Null: the installation's is used. */
export async function openModelKey(
  deps: { db: Queryable; sealer: Sealer },
  projectId: string,
  vendor: string,
): Promise<string | null> {
  const { rows } = await deps.db.query<{ credential: Buffer }>(
    "select credential from model_keys where project_id = $1 and vendor = $2",
    [projectId, vendor],
  );
  return rows[0] ? deps.sealer.open(rows[0].credential, modelKeyContext(projectId, vendor)) : null;
}

/** Null removes the project's key. Returns false if there was none. */
export async function setModelKey(
  deps: { db: Queryable; sealer: Sealer },
  input: { projectId: string; vendor: string; key: string | null },
): Promise<boolean> {
  const { projectId, vendor, key } = input;
  if (key === null) {
    const gone = await deps.db.query("delete from model_keys where project_id = $1 and vendor = $2", [
      projectId,
      vendor,
    ]);
    return (gone.rowCount ?? 0) > 0;
  }
  await deps.db.query(
    `insert into model_keys (project_id, vendor, credential) values ($1, $2, $3)
     on conflict (project_id, vendor) do update set credential = excluded.credential`,
    [projectId, vendor, deps.sealer.seal(key, modelKeyContext(projectId, vendor))],
  );
  return true;
}

export function modelKeyContext(projectId: string, vendor: string): string {
  return `project/${projectId}/model/${vendor}`;
}

/** The vendors for which a project has its own key. */
export async function listModelKeys(db: Queryable, projectId: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ vendor: string }>(
    "select vendor from model_keys where project_id = $1 order by vendor",
    [projectId],
  );
  return rows.map(({ vendor }) => vendor);
}
