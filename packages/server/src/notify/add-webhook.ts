import { isIP } from "node:net";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { newId } from "../lib/id.ts";
import { mayConnect } from "./public-address.ts";
import { newWebhookSecret } from "./sign-message.ts";
import {
  type SecretSealer,
  secretContext,
  type WebhookEvent,
  type WebhookFormat,
  webhookEvents,
  webhookFormats,
} from "./webhook.ts";
import { sealUrl } from "./webhook-url.ts";

export interface NewWebhook {
  projectId: string;
  url: string;
  format?: WebhookFormat;
  /** Absent: all. */
  events?: readonly WebhookEvent[];
}

/** The secret is shown here and never again; of the address, no more than its origin and its end. */
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

/** What can be seen before anything is sent; names are judged by the address that they have then. */
function assertUsable(given: string, options: { allowPrivate: boolean }): void {
  const url = URL.parse(given);
  if (!url || given.length > 2000) throw invalid("url must be a URL of at most 2000 characters");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && options.allowPrivate)) {
    throw invalid("url must begin with https://, or http:// where private addresses are allowed");
  }
  if (url.username || url.password) throw invalid("url must not hold a user name or password");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) && !mayConnect(host, { allowPrivate: true })) {
    throw invalid("url names a link-local or metadata address, which Emend never calls");
  }
  if (isIP(host) && !mayConnect(host, options)) throw invalid("url names an address that is not public");
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
