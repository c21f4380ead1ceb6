import { openContextCredential } from "../accounts/context-credential.ts";
import { listContextRepositories } from "../accounts/list-context-repositories.ts";
import { listModelKeys } from "../accounts/list-model-keys.ts";
import { openModelKey } from "../accounts/model-keys.ts";
import { openProjectCredential } from "../accounts/project-credential.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { Pool } from "../db/pool.ts";
import { hookSecretOf } from "../forge/hooks/hook-secret.ts";
import { openWebhookSecrets } from "../notify/open-webhook-secrets.ts";

interface KnownSecretsDeps {
  config: {
    modelEndpoints: Readonly<Record<string, { apiKey: string | null }>>;
    metricsToken: string | null;
    databaseUrl: string | null;
  };
  pool: Pool;
  sealer: Sealer;
  /** EMEND_SECRET. */
  secret: string;
}

/** What a job of this project must never let out: the installation's credentials and the project's own. */
export async function knownSecretsOf(deps: KnownSecretsDeps, projectId: string): Promise<readonly string[]> {
  const { config, pool: db, sealer, secret } = deps;
  const stored = await Promise.all([
    openProjectCredential({ db, sealer }, projectId),
    ...(await listModelKeys(db, projectId)).map((vendor) => openModelKey({ db, sealer }, projectId, vendor)),
    ...(await listContextRepositories(db, projectId)).map(({ id }) => openContextCredential({ db, sealer }, id)),
  ]);
  const all = [
    secret,
    hookSecretOf(secret, projectId),
    config.metricsToken,
    passwordOf(config.databaseUrl),
    ...Object.values(config.modelEndpoints).map(({ apiKey }) => apiKey),
    ...stored,
    ...(await openWebhookSecrets({ db, sealer }, projectId)),
  ];
  return [...new Set(all.filter((one) => one !== null && one !== "").flatMap((one) => partsOf(one as string)))];
}

/** A credential may be a record, as a GitHub App's is, and a private key has many lines: each part tells by itself. */
function partsOf(credential: string): readonly string[] {
  const lines = (text: string) =>
    text.includes("\n") ? text.split("\n").filter((line) => !line.startsWith("---")) : [text];
  try {
    const record: unknown = JSON.parse(credential);
    if (record === null || typeof record !== "object") return [credential];
    const secrets = Object.values(record).filter((value) => typeof value === "string" && !/^https?:/.test(value));
    return secrets.flatMap((value) => lines(value as string)).filter((value) => value.length >= 20);
  } catch {
    return lines(credential);
  }
}

function passwordOf(databaseUrl: string | null): string | null {
  if (databaseUrl === null || !URL.canParse(databaseUrl)) return null;
  return decodeURIComponent(new URL(databaseUrl).password);
}
