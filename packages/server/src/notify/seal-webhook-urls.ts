import type { Queryable } from "../db/pool.ts";
import type { SecretSealer } from "./webhook.ts";
import { sealUrl } from "./webhook-url.ts";

/** Seals the addresses that a release before this one wrote in the clear. Safe on every node, and to repeat. */
export async function sealWebhookUrls(deps: { db: Queryable; sealer: Pick<SecretSealer, "seal"> }): Promise<number> {
  const { rows } = await deps.db.query<{ id: string; url: string }>(
    "select id, url from webhooks where sealed_url is null",
  );
  for (const webhook of rows) {
    const { sealedUrl, shownUrl } = sealUrl(deps.sealer, webhook);
    await deps.db.query("update webhooks set url = $2, sealed_url = $3 where id = $1 and sealed_url is null", [
      webhook.id,
      shownUrl,
      sealedUrl,
    ]);
  }
  return rows.length;
}
