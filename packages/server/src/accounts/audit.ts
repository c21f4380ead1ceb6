import type { Queryable } from "../db/pool.ts";

export interface AuditEntry {
  id: string;
  at: string;
  actor: string;
  address: string | null;
  action: string;
  target: string | null;
  details: Readonly<Record<string, unknown>>;
}

export interface AuditFilter {
  actor: string | null;
  /** An action such as `key.created`, or a prefix such as `key`. */
  action: string | null;
  /** The last id of the previous page. */
  before: string | null;
  limit: number;
}

/** Newest first. */
export async function listAudit(
  db: Queryable,
  filter: AuditFilter,
): Promise<{ entries: readonly AuditEntry[]; nextCursor: string | null }> {
  const { rows } = await db.query<AuditEntry>(
    `select id, wire_time(at) as at, actor, address, action, target, details from audit_log
     where ($1::text is null or actor = $1) and ($2::text is null or action = $2 or starts_with(action, $2 || '.'))
       and ($3::text is null or id < $3)
     order by id desc limit $4`,
    [filter.actor, filter.action, filter.before, filter.limit + 1],
  );
  const entries = rows.slice(0, filter.limit);
  return { entries, nextCursor: rows.length > entries.length ? (entries.at(-1)?.id ?? null) : null };
}
