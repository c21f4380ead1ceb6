import type { Queryable } from "../db/pool.ts";
import { asDocumented } from "./format-message.ts";
import type { WebhookEvent, WebhookMessage } from "./webhook.ts";

/** One message to one webhook, and how it went. */
export interface Delivery {
  id: string;
  webhookId: string;
  jobId: string;
  event: WebhookEvent;
  payload: WebhookMessage;
  state: "pending" | "delivered" | "failed";
  tries: number;
  /** Of a pending one: when it is tried next. */
  dueAt: Date;
  lastStatus: number | null;
  lastError: string | null;
  lastTryAt: Date | null;
  createdAt: Date;
}

const deliveriesMax = 200;

/** The latest, newest first. */
export async function listDeliveries(db: Queryable, webhookId: string): Promise<readonly Delivery[]> {
  const { rows } = await db.query<Delivery>(
    `select id, webhook_id as "webhookId", job_id as "jobId", event, payload, state, tries, due_at as "dueAt",
       last_status as "lastStatus", last_error as "lastError", last_try_at as "lastTryAt", created_at as "createdAt"
     from deliveries where webhook_id = $1 order by created_at desc, id limit ${deliveriesMax}`,
    [webhookId],
  );
  return rows.map((delivery) => ({ ...delivery, payload: asDocumented(delivery.payload) }));
}
