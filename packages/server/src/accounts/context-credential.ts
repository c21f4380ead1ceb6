import type { Queryable } from "../db/pool.ts";
import { contextCredentialContext } from "./context-repository.ts";
import type { Sealer } from "./secrets.ts";

/** The token of a context repository, or null where it needs none. */
export async function openContextCredential(
  deps: { db: Queryable; sealer: Sealer },
  id: string,
): Promise<string | null> {
  const { rows } = await deps.db.query<{ credential: Buffer | null }>(
    "select credential from context_repositories where id = $1",
    [id],
  );
  const sealed = rows[0]?.credential;
  return sealed ? deps.sealer.open(sealed, contextCredentialContext(id)) : null;
}
