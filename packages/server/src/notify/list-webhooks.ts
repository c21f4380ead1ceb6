import type { Queryable } from "../db/pool.ts";
import { type Webhook, webhookColumns } from "./webhook.ts";
import { showUrl } from "./webhook-url.ts";

export async function listWebhooks(db: Queryable, projectId: string): Promise<readonly Webhook[]> {
  const { rows } = await db.query<Webhook>(`select ${webhookColumns} from webhooks where project_id = $1 order by id`, [
    projectId,
  ]);
  return rows.map((webhook) => ({ ...webhook, url: showUrl(webhook.url) }));
}
