import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { type WebhookEvent, webhookEvents, webhookFormats, webhookTest } from "@emend/contract";
import { channels } from "../db/listener.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { newId } from "../lib/id.ts";
import { newWebhookSecret } from "./post-message.ts";
import { mayConnect } from "./ssrf-guard.ts";

export type { WebhookMessage } from "@emend/contract";
// Also named in the triggers `tell_webhooks` and `tell_question`.
export { webhookEvents } from "@emend/contract";

export type WebhookFormat = (typeof webhookFormats)[number];

/** A URL that receives a project's events. Its secret is shown once. */
export interface Webhook {
  id: string;
  projectId: string;
  /** The part that may be shown: often the rest is a secret. */
  url: string;
  format: WebhookFormat;
  events: readonly WebhookEvent[];
  disabledAt: Date | null;
  disabledReason: string | null;
  createdAt: Date;
}

const webhookColumns = `id, project_id as "projectId", url, format, events, disabled_at as "disabledAt",
  disabled_reason as "disabledReason", created_at as "createdAt"`;

/** Encrypts secrets for the database. */
export interface SecretSealer {
  seal(text: string, context: string): Buffer;
  open(sealed: Buffer, context: string): string;
}

export function secretContext(webhookId: string): string {
  return `webhook/${webhookId}/secret`;
}

export interface NewWebhook {
  projectId: string;
  url: string;
  format?: WebhookFormat;
  /** Absent: all. */
  events?: readonly WebhookEvent[];
}

/** Returns the secret, which is never shown again. Only the URL's origin and end are shown later. */
export async function addWebhook(
  deps: { db: Queryable; sealer: SecretSealer; allowPrivate: boolean },
  input: NewWebhook,
): Promise<{ id: string; secret: string }> {
  const { format = "standard", events = webhookEvents } = input;
  assertUsable(input.url, deps);
  if (!webhookFormats.includes(format)) throw invalid(`format must be one of ${webhookFormats.join(", ")}`);
  const unknown = events.filter((event) => !webhookEvents.includes(event));
  if (unknown.length > 0 || events.length === 0) throw invalid(`events must be some of ${webhookEvents.join(", ")}`);
  const id = newId("whk");
  const secret = newWebhookSecret();
  const { sealedUrl, shownUrl } = sealUrl(deps.sealer, { id, url: input.url });
  const sealedSecret = deps.sealer.seal(secret, secretContext(id));
  const { rowCount } = await deps.db.query(
    `insert into webhooks (id, project_id, url, sealed_url, secret, format, events)
     select $1, id, $3, $4, $5, $6, $7 from projects where id = $2`,
    [id, input.projectId, shownUrl, sealedUrl, sealedSecret, format, [...new Set(events)]],
  );
  if (rowCount === 0) throw new AppError("not_found", { publicMessage: `project not found: ${input.projectId}` });
  return { id, secret };
}

/** Checks what is known before sending. Host names are checked at each delivery. */
function assertUsable(given: string, options: { allowPrivate: boolean }): void {
  const url = URL.parse(given);
  if (!url || given.length > 2000) throw invalid("url must be a URL of at most 2000 characters");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && options.allowPrivate)) {
    throw invalid("url must begin with https://, or http:// where private addresses are allowed");
  }
  if (url.username || url.password) throw invalid("url must not contain a user name or password");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) && !mayConnect(host, { allowPrivate: true })) {
    throw invalid("url must not be a link-local or metadata address");
  }
  if (isIP(host) && !mayConnect(host, options)) throw invalid("url must be a public address");
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

export async function listWebhooks(db: Queryable, projectId: string): Promise<readonly Webhook[]> {
  const { rows } = await db.query<Webhook>(`select ${webhookColumns} from webhooks where project_id = $1 order by id`, [
    projectId,
  ]);
  return rows.map((webhook) => ({ ...webhook, url: showUrl(webhook.url) }));
}

/** With its delivery log. False if the webhook does not exist. */
export async function removeWebhook(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from webhooks where id = $1", [id]);
  return rowCount === 1;
}

/** A disabled webhook gets nothing, and pending deliveries wait. False if it does not exist. */
export async function setWebhookEnabled(db: Queryable, id: string, isEnabled: boolean): Promise<boolean> {
  const { rowCount } = await db.query(
    `update webhooks set disabled_at = case when $2 then null else coalesce(disabled_at, clock_timestamp()) end,
       disabled_reason = case when $2 then null else coalesce(disabled_reason, 'by its owner') end
     where id = $1`,
    [id, isEnabled],
  );
  return rowCount === 1;
}

const overlapHours = 24;

/**
 * A new secret, shown once. The old one also signs for a day, so that receivers can change over. Null if the webhook
 * does not exist.
 */
export async function rotateWebhookSecret(
  deps: { db: Queryable; sealer: SecretSealer },
  id: string,
): Promise<{ secret: string; oldUntil: Date } | null> {
  const secret = newWebhookSecret();
  const { rows } = await deps.db.query<{ oldUntil: Date }>(
    `update webhooks set old_secret = secret, secret = $2,
       old_secret_until = clock_timestamp() + make_interval(hours => ${overlapHours})
     where id = $1 returning old_secret_until as "oldUntil"`,
    [id, deps.sealer.seal(secret, secretContext(id))],
  );
  return rows[0] ? { secret, oldUntil: rows[0].oldUntil } : null;
}

/** Queues a message of type `webhook.test`. Returns its id. Null if the webhook does not exist or is disabled. */
export async function testWebhook(db: Queryable, id: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `with sent as (
       insert into deliveries (webhook_id, event, payload)
       select id, '${webhookTest}', jsonb_build_object('type', '${webhookTest}', 'timestamp', wire_time(clock_timestamp()),
         'data', jsonb_build_object('projectId', project_id))
       from webhooks where id = $1 and disabled_at is null
       returning id
     )
     select id, pg_notify('${channels.deliveryDue}', '') from sent`,
    [id],
  );
  return rows[0]?.id ?? null;
}

/** The secrets that sign a project's webhooks. */
export async function openWebhookSecrets(
  deps: { db: Queryable; sealer: SecretSealer },
  projectId: string,
): Promise<readonly string[]> {
  const { rows } = await deps.db.query<{ id: string; secret: Buffer }>(
    `select id, secret from webhooks where project_id = $1
     union all select id, old_secret from webhooks where project_id = $1 and old_secret_until > clock_timestamp()`,
    [projectId],
  );
  return rows.map(({ id, secret }) => deps.sealer.open(secret, secretContext(id)));
}

const tailLength = 4;
/** The shown end reveals little of a path, and nothing of a short one. */
const tailOfLengthMin = 24;
/** The prefix of the shown part next to an encrypted URL: no client of any release can connect to it. */
const mark = "sealed:";

/** What is stored of a webhook's URL: the encrypted URL, and the part that may be shown. */
function sealUrl(
  sealer: Pick<SecretSealer, "seal">,
  webhook: { id: string; url: string },
): { sealedUrl: Buffer; shownUrl: string } {
  const { id, url } = webhook;
  return { sealedUrl: sealer.seal(url, urlContext(id)), shownUrl: `${mark}${maskUrl(url)}` };
}

export function openWebhookUrl(
  sealer: Pick<SecretSealer, "open">,
  stored: { webhookId: string; sealedUrl: Buffer },
): string {
  return sealer.open(stored.sealedUrl, urlContext(stored.webhookId));
}

/** The shown part, everywhere except when it was entered: whoever knows such a URL can post there. */
export function showUrl(stored: string): string {
  return stored.startsWith(mark) ? stored.slice(mark.length) : maskUrl(stored);
}

export function urlContext(webhookId: string): string {
  return `webhook/${webhookId}/url`;
}

/** Its origin, and its end to tell it from others: of a short one, whose end is the secret, 16 bits of its digest. */
function maskUrl(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed) return "…";
  const secret = `${parsed.pathname.slice(1)}${parsed.search}${parsed.hash}`;
  if (secret === "") return `${parsed.origin}/`;
  if (secret.length >= tailOfLengthMin) return `${parsed.origin}/…${secret.slice(-tailLength)}`;
  return `${parsed.origin}/… (${createHash("sha256").update(url).digest("hex").slice(0, 4)})`;
}
