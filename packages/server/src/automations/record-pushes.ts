import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import type { Look } from "./claim-look.ts";
import type { Values } from "./values.ts";

export interface PushRecord {
  event: string;
  values: Values;
  /** Why it makes no job; null: it waits to become one. */
  skipped: string | null;
}

/** Stored even where nothing is watched yet, so that the next look knows it is not the first. */
const lookedAt = "looked";

/** What was pushed and where everything is now, together: a look that is cut off is made again from where it began. */
export async function recordPushes(
  pool: Pool,
  look: Pick<Look, "id" | "known">,
  found: { seen: ReadonlyMap<string, string>; records: readonly PushRecord[] },
): Promise<void> {
  const { id } = look;
  const refs = [...found.seen].filter(([ref]) => ref !== lookedAt);
  refs.push([lookedAt, ""]);
  await inTransaction(pool, async (client) => {
    const locked = await client.query("select from automations where id = $1 and paused_at is null for no key update", [
      id,
    ]);
    // Read after the lock: a statement that waits for one sees what was there when it began.
    const { rows } = await client.query<{ refs: Record<string, string> | null }>(
      "select jsonb_object_agg(ref, commit_id) as refs from automation_refs where automation_id = $1",
      [id],
    );
    // It was removed or paused meanwhile, or another node looked faster.
    if (locked.rowCount === 0 || !isSame(look.known, rows[0]?.refs ?? {})) return;
    for (const { event, values, skipped } of found.records) {
      await client.query(
        `insert into automation_runs (automation_id, event, values, state, words, settled_at)
         values ($1, $2, $3, $4, $5, case when $4 = 'skipped' then clock_timestamp() end)
         on conflict (automation_id, event) do nothing`,
        [id, event, values, skipped === null ? "waiting" : "skipped", skipped ?? "Waits for its turn."],
      );
    }
    await client.query("delete from automation_refs where automation_id = $1", [id]);
    await client.query(
      `insert into automation_refs (automation_id, ref, commit_id)
       select $1, ref, commit_id from unnest($2::text[], $3::text[]) given (ref, commit_id)`,
      [id, refs.map(([ref]) => ref), refs.map(([, commit]) => commit)],
    );
  });
}

function isSame(known: ReadonlyMap<string, string>, now: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(now);
  return entries.length === known.size && entries.every(([ref, commit]) => known.get(ref) === commit);
}
