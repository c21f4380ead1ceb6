import type { Queryable } from "../db/pool.ts";
import type { WebhookFormat, WebhookMessage } from "./webhook.ts";

export interface ClaimedDelivery {
  id: string;
  webhookId: string;
  jobId: string;
  url: string;
  /** Null: a release before this one wrote it, and `url` is the address itself. */
  sealedUrl: Buffer | null;
  secret: Buffer;
  format: WebhookFormat;
  payload: WebhookMessage;
  /** This one included. */
  tries: number;
}

/**
 * Takes the message that has been due longest. It is due again after `claimMs`, so that one whose sender was killed is
 * sent by another; only then can a receiver see a message twice.
 */
export async function claimDelivery(
  db: Queryable,
  options: { claimMs: number; busyWebhookIds: readonly string[] },
): Promise<ClaimedDelivery | undefined> {
  const { rows } = await db.query<ClaimedDelivery>({
    name: "claim-delivery",
    text: `
      with due as (
        select deliveries.id from deliveries join webhooks on webhooks.id = webhook_id
        where state = 'pending' and due_at <= clock_timestamp() and disabled_at is null and webhook_id <> all ($2::text[])
        order by due_at limit 1 for no key update of deliveries skip locked
      ), claimed as (
        update deliveries set tries = tries + 1, last_try_at = clock_timestamp(),
          due_at = clock_timestamp() + make_interval(secs => $1)
        from due where deliveries.id = due.id
        returning deliveries.id, webhook_id, job_id, payload, tries
      )
      select claimed.id, webhook_id as "webhookId", job_id as "jobId", url, sealed_url as "sealedUrl", secret, format, payload, tries
      from claimed join webhooks on webhooks.id = webhook_id`,
    values: [options.claimMs / 1000, options.busyWebhookIds],
  });
  return rows[0];
}
