import type { Queryable } from "../db/pool.ts";

/** Whether the console named this server, so that it may be on loopback or a private network. */
export async function isTrustedOrigin(db: Queryable, origin: string): Promise<boolean> {
  const { rowCount } = await db.query("select from trusted_origins where origin = $1", [origin]);
  return rowCount !== 0;
}

export async function trustOrigins(db: Queryable, urls: readonly string[]): Promise<void> {
  await db.query("insert into trusted_origins (origin) select unnest($1::text[]) on conflict do nothing", [
    [...new Set(urls.map((url) => new URL(url).origin))],
  ]);
}
