import type { Queryable } from "../db/pool.ts";
import { type SecretSealer, secretContext } from "./webhook.ts";

/** By which a project's webhooks are signed. */
export async function openWebhookSecrets(
  deps: { db: Queryable; sealer: SecretSealer },
  projectId: string,
): Promise<readonly string[]> {
  const { rows } = await deps.db.query<{ id: string; secret: Buffer }>(
    "select id, secret from webhooks where project_id = $1",
    [projectId],
  );
  return rows.map(({ id, secret }) => deps.sealer.open(secret, secretContext(id)));
}
