import type { Queryable } from "../db/pool.ts";
import type { Lease } from "./lease.ts";

export interface Renewal {
  /** Tokens that no longer hold their job. */
  lost: readonly string[];
  /** Tokens whose job was asked to stop. */
  stopAsked: readonly string[];
}

/**
 * Renews all leases of a process. An expired lease that nobody has swept is renewed too: no one else owns the job. A
 * row that somebody has locked is left for the next time, so that one slow transaction does not cost the others
 * their lease.
 */
export async function renewLeases(db: Queryable, leases: readonly Lease[], leaseMs: number): Promise<Renewal> {
  const ids = leases.map((lease) => lease.jobId);
  const tokens = leases.map((lease) => lease.token);
  const { rows } = await db.query<{ token: string; stop_asked: string | null }>(
    `with mine as (
       select * from unnest($1::text[], $2::uuid[]) as mine (id, token)
     ), free as (
       select jobs.id from jobs join mine on jobs.id = mine.id and lease = token
       for no key update of jobs skip locked
     ), renewed as (
       update jobs set lease_until = clock_timestamp() + make_interval(secs => $3) from free where jobs.id = free.id
     )
     select token, stop_asked from jobs join mine on jobs.id = mine.id and lease = token`,
    [ids, tokens, leaseMs / 1000],
  );
  const held = new Set(rows.map((row) => row.token));
  return {
    lost: tokens.filter((token) => !held.has(token)),
    stopAsked: rows.filter((row) => row.stop_asked !== null).map((row) => row.token),
  };
}
