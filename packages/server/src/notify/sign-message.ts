import { createHmac, randomBytes } from "node:crypto";

const prefix = "whsec_";

/** A secret in the form of Standard Webhooks. */
export function newWebhookSecret(): string {
  return `${prefix}${randomBytes(32).toString("base64")}`;
}

/** The headers by which a receiver knows that the message is ours, whole, and not an old one sent again. */
export function signatureHeaders(
  secret: string,
  message: { id: string; body: string; sentAtSeconds: number },
): Record<string, string> {
  const key = Buffer.from(secret.slice(prefix.length), "base64");
  const signed = `${message.id}.${message.sentAtSeconds}.${message.body}`;
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(message.sentAtSeconds),
    "webhook-signature": `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
  };
}
