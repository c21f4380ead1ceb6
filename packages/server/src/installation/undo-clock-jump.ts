import { nextDue } from "../automations/fire-automations.ts";
import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";

/** Less is a clock that is adjusted, or another server after a failover. */
const jumpSecondsMin = 5;

/** What is due at a time that was computed by the clock. What people were promised (`answer_until`) is not here. */
const dueTimes = [
  ["tasks", "due_at"],
  ["tasks", "held_until"],
  ["tasks", "not_before"],
  ["deliveries", "due_at"],
  ["job_emails", "due_at"],
  ["issue_requests", "answer_due_at"],
  ["claim_looks", "due_at"],
  ["gate_looks", "not_before"],
  ["poll_turns", "spent_until"],
  ["automation_runs", "try_at"],
  ["jobs", "pull_request_look_at"],
  ["jobs", "run_after"],
] as const;

/**
 * If the database's clock went back, heartbeats are from the future. What was due soon by the old clock would wait as long
 * as the jump was, so due times go back with the clock: at worst, something is done early. Schedules are computed anew.
 * Returns the jump in seconds.
 */
export async function undoClockJump(pool: Pool): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ seconds: number | null }>(
      "select extract(epoch from max(seen_at) - clock_timestamp())::float8 as seconds from nodes",
    );
    const seconds = rows[0]?.seconds ?? 0;
    if (seconds < jumpSecondsMin) return 0;
    // Another node that waits for these rows finds none.
    const { rowCount } = await client.query(
      "update nodes set seen_at = clock_timestamp() where seen_at > clock_timestamp()",
    );
    if (rowCount === 0) return 0;
    for (const [table, column] of dueTimes) {
      const waitsForPerson =
        column === "run_after"
          ? "and waiting_for is distinct from 'answer' and waiting_for is distinct from 'approval'"
          : "";
      await client.query(
        `update ${table} set ${column} = greatest(clock_timestamp(), ${column} - make_interval(secs => $1))
         where ${column} > clock_timestamp() and isfinite(${column}) ${waitsForPerson}`,
        [seconds],
      );
    }
    // A time that comes again is another event.
    await client.query(
      "update automation_runs set event = event || ', before the clock went back' where created_at > clock_timestamp()",
    );
    await client.query(
      "update automations set due_at = clock_timestamp() where trigger ->> 'kind' <> 'cron' and due_at > clock_timestamp()",
    );
    const crons = await client.query<{ id: string; trigger: { expression: string; timezone: string }; now: Date }>(
      `select id, trigger, clock_timestamp() as now from automations
       where trigger ->> 'kind' = 'cron' and due_at > clock_timestamp() for no key update`,
    );
    for (const { id, trigger, now } of crons.rows)
      await client.query("update automations set due_at = $2 where id = $1", [id, nextDue(trigger, now)]);
    return seconds;
  });
}
