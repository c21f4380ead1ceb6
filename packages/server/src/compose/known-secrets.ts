import { listModelKeys, openModelKey } from "../accounts/keys/model-keys.ts";
import { listContextRepositories, openContextCredential } from "../accounts/projects/context-repositories.ts";
import { openKnowledgeSecrets } from "../accounts/projects/knowledge-grants.ts";
import { listKnowledgeServers } from "../accounts/projects/knowledge-servers.ts";
import { openProjectCredential } from "../accounts/projects/projects.ts";
import type { Sealer } from "../accounts/secrets.ts";
import { webhookSecretsOf } from "../automations/webhook.ts";
import type { Config } from "../config/config.ts";
import type { Pool } from "../db/pool.ts";
import { readServers } from "../db/server-client.ts";
import { hookSecretOf } from "../forge/hooks/plugin.ts";
import { openWebhookSecrets } from "../notify/webhooks.ts";

interface KnownSecretsDeps {
  config: {
    modelEndpoints: Config["modelEndpoints"];
    metricsToken: string | null;
    databaseUrl: string | null;
    databaseListenUrl: string | null;
    databaseReadUrl: string | null;
    smtp: { login: { password: string } | null } | null;
    slack: Config["slack"];
    mattermost: Config["mattermost"];
    knowledgePrograms: Config["knowledgePrograms"];
  };
  pool: Pool;
  sealer: Sealer;
  /** EMEND_SECRET. */
  secret: string;
}

/** What a job of this project must never reveal: the installation's credentials and the project's own. */
export async function knownSecretsOf(deps: KnownSecretsDeps, projectId: string): Promise<readonly string[]> {
  const { config, pool: db, sealer, secret } = deps;
  // Before any of them is opened: a promise that rejects while another is awaited would end the process.
  const vendors = await listModelKeys(db, projectId);
  const contexts = await listContextRepositories(db, projectId);
  const servers = await listKnowledgeServers(db, projectId);
  const stored = await Promise.all([
    openProjectCredential({ db, sealer }, projectId),
    ...vendors.map((vendor) => openModelKey({ db, sealer }, projectId, vendor)),
    ...contexts.map(({ id }) => openContextCredential({ db, sealer }, id)),
  ]);
  const all = [
    secret,
    hookSecretOf(secret, projectId),
    config.metricsToken,
    passwordOf(config.databaseUrl),
    passwordOf(config.databaseListenUrl),
    passwordOf(config.databaseReadUrl),
    config.smtp?.login?.password ?? null,
    config.slack?.botToken ?? null,
    config.slack?.appToken ?? null,
    config.slack?.signingSecret ?? null,
    config.mattermost?.token ?? null,
    ...Object.values(config.modelEndpoints).flatMap(({ apiKey, secrets = {} }) => [apiKey, ...Object.values(secrets)]),
    ...Object.values(config.knowledgePrograms.byName).flatMap(({ env }) => Object.values(env).filter(isLong)),
    ...stored,
    ...(await Promise.all(servers.map(({ id }) => openKnowledgeSecrets({ db, sealer }, id)))).flat(),
    ...(await webhookSecretsOf({ pool: db, sealer, secret }, projectId)),
    ...(await openWebhookSecrets({ db, sealer }, projectId)),
  ];
  return [...new Set(all.filter((one) => one !== null && one !== "").flatMap((one) => partsOf(one as string)))];
}

/** Shorter ones are settings, such as a number or a name. */
const isLong = (value: string) => value.length >= 12;

/** A credential may be a record, such as a GitHub App's, and a private key has many lines: each part counts. */
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
  const [url] = (databaseUrl === null ? null : readServers(databaseUrl))?.urls ?? [];
  return url === undefined ? null : decodeURIComponent(new URL(url).password);
}
