import { appContext as authenticatorAppContext } from "../accounts/factors/codes.ts";
import { modelKeyContext } from "../accounts/keys/model-keys.ts";
import { contextCredentialContext } from "../accounts/projects/context-repositories.ts";
import { appContext, setupContext } from "../accounts/projects/github-app.ts";
import { knowledgeConnectingContext, knowledgeGrantContext } from "../accounts/projects/knowledge-grants.ts";
import { knowledgeCredentialContext } from "../accounts/projects/knowledge-servers.ts";
import { credentialContext } from "../accounts/projects/projects.ts";
import { createSealer, type Sealer } from "../accounts/secrets.ts";
import { webhookSecretContext } from "../automations/webhook.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/setting-reader.ts";
import type { Client, Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { secretContext, urlContext } from "../notify/webhooks.ts";

export interface SealedRow {
  id: string;
  vendor: string;
  sealed: Buffer;
}

/** A column whose values are encrypted. `key`: what tells its rows apart. */
function sealedIn(table: string, column: string, contextOf: (id: string) => string, key = "id") {
  return {
    column: `${table}.${column}`,
    select: `select ${key} as id, '' as vendor, ${column} as sealed from ${table} where ${column} is not null for update`,
    update: `update ${table} set ${column} = $2 where ${key} = $1 and $3 = ''`,
    contextOf: ({ id }: SealedRow) => contextOf(id),
  };
}

/** Every encrypted column, with the context of its values. */
export const sealedColumns = [
  sealedIn("projects", "credential", credentialContext),
  sealedIn("context_repositories", "credential", contextCredentialContext),
  sealedIn("knowledge_servers", "credential", knowledgeCredentialContext),
  sealedIn("knowledge_servers", "oauth", knowledgeGrantContext),
  sealedIn("knowledge_servers", "connecting", knowledgeConnectingContext),
  sealedIn("github_apps", "credential", appContext, "repository_url"),
  sealedIn("github_app_setups", "credential", setupContext, "project_id"),
  {
    column: "model_keys.credential",
    select: "select project_id as id, vendor, credential as sealed from model_keys for update",
    update: "update model_keys set credential = $2 where project_id = $1 and vendor = $3",
    contextOf: (row: SealedRow) => modelKeyContext(row.id, row.vendor),
  },
  sealedIn("authenticator_apps", "secret", authenticatorAppContext, "user_id"),
  sealedIn("automations", "webhook_secret", webhookSecretContext),
  sealedIn("webhooks", "secret", secretContext),
  sealedIn("webhooks", "old_secret", secretContext),
  sealedIn("webhooks", "sealed_url", urlContext),
];

const canaryName = "secretCanary";
const canaryText = "Only the installation's own EMEND_SECRET opens this.";

/**
 * Refuses a secret that is not this installation's: it could not decrypt stored values, and the owner link would
 * differ. The database has an encrypted text, the canary. An installation without one gets it if the secret decrypts
 * any stored value.
 */
export async function assertSecret(
  pool: Pool,
  secret: string,
  config: Pick<Config, "secret" | "dataDir">,
): Promise<void> {
  const sealer = createSealer(secret);
  const opens = await inTransaction(pool, async (client) => {
    if ((await readCanary(client)) === null) {
      if (!(await opensAnyStored(client, sealer))) return false;
      // If nodes start together, the first one's is kept, and the others are checked with it.
      await writeCanary(client, sealer, "do nothing");
    }
    return opensCanary(client, sealer);
  });
  if (opens) return;
  const which = config.secret === null ? `The secret in ${config.dataDir}/secret` : "EMEND_SECRET";
  throw new ConfigError([
    `${which} is not the secret that this database's credentials are sealed with. Put the former secret back. To replace it, ` +
      "run `emend secrets rotate`; `emend doctor` tells whether a secret fits",
  ]);
}

/** Also true if there is no canary yet. Changes nothing. */
export async function opensCanary(db: Queryable, sealer: Sealer): Promise<boolean> {
  const canary = await readCanary(db);
  return canary === null || opens(sealer, canary, canaryName);
}

/** Fails if neither the new nor an old secret decrypts it. */
export async function resealCanary(client: Client, sealer: Sealer): Promise<void> {
  const canary = await readCanary(client);
  if (canary === null) return;
  sealer.open(canary, canaryName);
  await writeCanary(client, sealer, "do update set value = excluded.value, updated_at = clock_timestamp()");
}

async function readCanary(db: Queryable): Promise<Buffer | null> {
  const { rows } = await db.query<{ value: string }>("select value from settings where name = $1", [canaryName]);
  return rows[0] ? Buffer.from(rows[0].value, "base64") : null;
}

async function writeCanary(client: Client, sealer: Sealer, onConflict: string): Promise<void> {
  const value = JSON.stringify(sealer.seal(canaryText, canaryName).toString("base64"));
  // Not a person's action, so it is not in the audit log.
  await client.query("select set_config('emend.audit', 'off', true)");
  await client.query(`insert into settings (name, value) values ($1, $2) on conflict (name) ${onConflict}`, [
    canaryName,
    value,
  ]);
}

/** A token from before the last rotation may be lost, although the secret is right. */
async function opensAnyStored(client: Client, sealer: Sealer): Promise<boolean> {
  let stored = 0;
  for (const { select, contextOf } of sealedColumns) {
    const { rows } = await client.query<SealedRow>(select);
    if (rows.some((row) => opens(sealer, row.sealed, contextOf(row)))) return true;
    stored += rows.length;
  }
  return stored === 0;
}

function opens(sealer: Sealer, sealed: Buffer, context: string): boolean {
  try {
    sealer.open(sealed, context);
    return true;
  } catch {
    return false;
  }
}
