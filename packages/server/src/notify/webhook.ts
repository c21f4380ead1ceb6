import type { WebhookEvent } from "@emend/contract";

export type { WebhookEvent, WebhookMessage } from "@emend/contract";
// The trigger `tell_webhooks` names them.
export { webhookEvents } from "@emend/contract";

export const webhookFormats = ["standard", "slack"] as const;
export type WebhookFormat = (typeof webhookFormats)[number];

/** An address to which a project's events are posted. Its secret is shown once, when it is made. */
export interface Webhook {
  id: string;
  projectId: string;
  /** What may be shown of it: often the rest is a secret. */
  url: string;
  format: WebhookFormat;
  events: readonly WebhookEvent[];
  disabledAt: Date | null;
  disabledReason: string | null;
  createdAt: Date;
}

export const webhookColumns = `id, project_id as "projectId", url, format, events, disabled_at as "disabledAt",
  disabled_reason as "disabledReason", created_at as "createdAt"`;

/** Seals secrets for the database. */
export interface SecretSealer {
  seal(text: string, context: string): Buffer;
  open(sealed: Buffer, context: string): string;
}

export function secretContext(webhookId: string): string {
  return `webhook/${webhookId}/secret`;
}
