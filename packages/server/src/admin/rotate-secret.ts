import { contextCredentialContext } from "../accounts/context-repository.ts";
import { appContext } from "../accounts/github-app.ts";
import { modelKeyContext } from "../accounts/model-keys.ts";
import { credentialContext } from "../accounts/project-credential.ts";
import { createSealer } from "../accounts/secrets.ts";
import type { Client, Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { secretContext } from "../notify/webhook.ts";
import { urlContext } from "../notify/webhook-url.ts";

interface SealedRow {
  id: string;
  vendor: string;
  sealed: Buffer;
}

/** Every column that is sealed, and whose each value is. */
export const sealedColumns = [
  {
    column: "projects.credential",
    select: "select id, '' as vendor, credential as sealed from projects where credential is not null for update",
    update: "update projects set credential = $2 where id = $1 and $3 = ''",
    contextOf: (row: SealedRow) => credentialContext(row.id),
  },
  {
    column: "context_repositories.credential",
    select: `select id, '' as vendor, credential as sealed from context_repositories
      where credential is not null for update`,
    update: "update context_repositories set credential = $2 where id = $1 and $3 = ''",
    contextOf: (row: SealedRow) => contextCredentialContext(row.id),
  },
  {
    column: "github_apps.credential",
    select: "select repository_url as id, '' as vendor, credential as sealed from github_apps for update",
    update: "update github_apps set credential = $2 where repository_url = $1 and $3 = ''",
    contextOf: (row: SealedRow) => appContext(row.id),
  },
  {
    column: "model_keys.credential",
    select: "select project_id as id, vendor, credential as sealed from model_keys for update",
    update: "update model_keys set credential = $2 where project_id = $1 and vendor = $3",
    contextOf: (row: SealedRow) => modelKeyContext(row.id, row.vendor),
  },
  {
    column: "webhooks.secret",
    select: "select id, '' as vendor, secret as sealed from webhooks for update",
    update: "update webhooks set secret = $2 where id = $1 and $3 = ''",
    contextOf: (row: SealedRow) => secretContext(row.id),
  },
  {
    column: "webhooks.sealed_url",
    select: "select id, '' as vendor, sealed_url as sealed from webhooks where sealed_url is not null for update",
    update: "update webhooks set sealed_url = $2 where id = $1 and $3 = ''",
    contextOf: (row: SealedRow) => urlContext(row.id),
  },
];

/**
 * Seals every stored credential anew, all or none. Run it while no server runs, then start them with the new secret.
 * Safe to repeat: what the new secret sealed already is sealed by it once more.
 */
export async function rotateSecret(
  pool: Pool,
  secrets: { from: readonly string[]; to: string },
): Promise<{ resealed: number }> {
  const sealer = createSealer(secrets.to, secrets.from);
  return inTransaction(pool, async (client: Client) => {
    let resealed = 0;
    for (const { select, update, contextOf } of sealedColumns) {
      const { rows } = await client.query<SealedRow>(select);
      for (const row of rows) {
        const context = contextOf(row);
        await client.query(update, [row.id, sealer.seal(sealer.open(row.sealed, context), context), row.vendor]);
        resealed += 1;
      }
    }
    return { resealed };
  });
}
