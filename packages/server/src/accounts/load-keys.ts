import type { BlockList } from "node:net";
import type { Queryable } from "../db/pool.ts";
import { parseAllowList } from "./addresses.ts";
import type { KeyGrant, KeyScope } from "./admin-key.ts";

/** What a node remembers of a key. Times are by the node's monotonic clock, reckoned from the database's. */
export interface LoadedKey {
  grant: KeyGrant;
  /** Of the whole key; known once it was let in. */
  checksum: string | null;
  secretHash: Buffer;
  /** Known once it was let in; kept in this process's memory alone. */
  secret: Buffer | null;
  expiresAtMs: number;
  allowList: BlockList | null;
  /** When its last use was written last. */
  touchedAtMs: number;
}

interface Row {
  id: string;
  secret_hash: Buffer;
  project_ids: string[];
  scope: KeyScope;
  allow_list: string[] | null;
  expires_in_ms: number | null;
  used_before_ms: number | null;
}

/** By id; those that are not there, or no longer, are left out. */
export async function loadKeys(
  db: Queryable,
  ids: readonly string[],
  now: () => number,
): Promise<ReadonlyMap<string, LoadedKey>> {
  // Read before the query: a key must expire early rather than late.
  const askedAtMs = now();
  const { rows } = await db.query<Row>({
    name: "load-keys",
    text: `select id, secret_hash, project_ids, scope, allow_list,
             (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as expires_in_ms,
             (extract(epoch from clock_timestamp() - last_used_at) * 1000)::float8 as used_before_ms
           from admin_keys where id = any($1) and revoked_at is null`,
    values: [ids],
  });
  return new Map(rows.map((row) => [row.id, toLoadedKey(row, askedAtMs)]));
}

function toLoadedKey(row: Row, askedAtMs: number): LoadedKey {
  return {
    grant: { keyId: row.id, projectIds: new Set(row.project_ids), scope: row.scope },
    checksum: null,
    secretHash: row.secret_hash,
    secret: null,
    expiresAtMs: row.expires_in_ms === null ? Number.POSITIVE_INFINITY : askedAtMs + row.expires_in_ms,
    allowList: row.allow_list && allowListOf(row.allow_list),
    touchedAtMs: row.used_before_ms === null ? Number.NEGATIVE_INFINITY : askedAtMs - row.used_before_ms,
  };
}

function allowListOf(entries: readonly string[]): BlockList {
  const parsed = parseAllowList(entries);
  if (parsed.kind === "invalid") throw new Error(`a stored allow-list holds "${parsed.entry}"`);
  return parsed.list;
}
