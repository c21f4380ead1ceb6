import type { Queryable } from "../db/pool.ts";

export type DeliveryOutcome =
  | { kind: "delivered"; status: number }
  /** The far end wants no more of these, ever. */
  | { kind: "gone"; status: number }
  | { kind: "refused"; status: number; retryAfterMs: number }
  | { kind: "unreached"; error: string };

/**
 * How long after each try the next one follows: the schedule that Standard Webhooks proposes. A message that was
 * refused after the last of them has failed for good.
 */
const retryAfterSeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;

const dayMs = 86_400_000;

/** `tries` fences the write: a sender that was taken for dead changes nothing any more. */
export async function settleDelivery(
  db: Queryable,
  delivery: { id: string; webhookId: string; tries: number },
  outcome: DeliveryOutcome,
): Promise<void> {
  const status = outcome.kind === "unreached" ? null : outcome.status;
  const error = outcome.kind === "unreached" ? outcome.error.slice(0, 500) : null;
  const waitMs = nextTryMs(delivery.tries, outcome);
  const state = outcome.kind === "delivered" ? "delivered" : waitMs === null ? "failed" : "pending";
  await db.query(
    `with settled as (
       update deliveries set state = $3, last_status = $4, last_error = $5,
         due_at = case when $3 = 'pending' then clock_timestamp() + make_interval(secs => $6) else due_at end
       where id = $1 and tries = $2 and state = 'pending'
     )
     update webhooks set disabled_at = clock_timestamp(), disabled_reason = 'its receiver answered 410 Gone'
     where id = $7 and $8 and disabled_at is null`,
    [
      delivery.id,
      delivery.tries,
      state,
      status,
      error,
      (waitMs ?? 0) / 1000,
      delivery.webhookId,
      outcome.kind === "gone",
    ],
  );
}

/** Null: never again. */
function nextTryMs(tries: number, outcome: DeliveryOutcome): number | null {
  const seconds = retryAfterSeconds[tries - 1];
  if (outcome.kind === "delivered" || outcome.kind === "gone" || seconds === undefined) return null;
  // Spread, so that a receiver that comes back is not met by everything at once.
  const scheduledMs = seconds * 1000 * (1 + Math.random() * 0.1);
  return outcome.kind === "refused" ? Math.max(scheduledMs, Math.min(outcome.retryAfterMs, dayMs)) : scheduledMs;
}
