import type { Queryable } from "../db/pool.ts";

/** Repositories of the local forge have this installation's address, which may change between starts. */
export async function refreshLocalUrls(db: Queryable, publicUrl: string): Promise<void> {
  await db.query(
    `update projects set repository_url = $1 || '/git/' || id || '.git'
      where forge = 'local' and repository_url <> $1 || '/git/' || id || '.git'`,
    [publicUrl],
  );
}
