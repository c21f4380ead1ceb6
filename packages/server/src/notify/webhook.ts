/** What webhooks can be told of. The trigger `tell_webhooks` names them. */
export const webhookEvents = [
  "job.completed",
  "job.failed",
  "job.archived",
  "pull_request.merged",
  "pull_request.closed",
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

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

/** What the trigger stored, and the receiver gets. */
export interface WebhookMessage {
  type: WebhookEvent;
  timestamp: string;
  data: {
    projectId: string;
    job: { id: string; status: string; prLink: string | null };
    title: string | null;
    failure: { code: string; message: string } | null;
    pullRequest: { number: number; url: string; state: string; draft: boolean } | null;
  };
}

/** Seals secrets for the database. */
export interface SecretSealer {
  seal(text: string, context: string): Buffer;
  open(sealed: Buffer, context: string): string;
}

export function secretContext(webhookId: string): string {
  return `webhook/${webhookId}/secret`;
}
