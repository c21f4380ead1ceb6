import type { WebhookMessage } from "@emend/contract";
import { EmendError } from "./errors.ts";

/**
 * The body that Emend posts to a webhook, discriminated by its `type`. Newer servers may send other types. `id` is the
 * same for each delivery of one event: store it to handle an event once.
 */
export type WebhookEvent = WebhookMessage & { id: string };

export interface WebhookRequest {
  /** `whsec_…`, as shown when the webhook was added. */
  secret: string;
  /** The request's headers: `Headers`, or a record as in Node. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw body. Parsed and serialized again it has another signature. */
  body: string | Uint8Array;
  /** The maximum age of a delivery, against replays. Default: 300. */
  toleranceSeconds?: number;
  nowMs?: number;
}

/**
 * Verifies that a request was signed with the webhook's secret (Standard Webhooks, HMAC-SHA256) and is recent, and
 * returns its event. Otherwise throws an EmendError of the kind `invalid_signature`.
 */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const id = header(request.headers, "webhook-id");
  const timestamp = header(request.headers, "webhook-timestamp");
  const signatures = header(request.headers, "webhook-signature");
  const toleranceMs = (request.toleranceSeconds ?? 300) * 1000;
  const ageMs = Math.abs((request.nowMs ?? Date.now()) - Number(timestamp) * 1000);
  if (!/^\d{1,12}$/.test(timestamp) || !(ageMs <= toleranceMs))
    throw invalid("its timestamp is too old or in the future");

  const body = typeof request.body === "string" ? new TextEncoder().encode(request.body) : request.body;
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  const key = await crypto.subtle.importKey("raw", keyBytes(request.secret), hmac, false, ["verify"]);
  // There are several signatures while a secret is being rotated: one match is enough.
  for (const signature of signatures.split(" ").slice(0, signaturesMax)) {
    const [version, text = ""] = signature.split(",", 2);
    const bytes = version === "v1" ? fromBase64(text) : null;
    // `verify` compares in constant time.
    if (bytes && (await crypto.subtle.verify("HMAC", key, bytes, signed))) return parseEvent(id, body);
  }
  throw invalid("no signature matches the secret and the body");
}

const hmac = { name: "HMAC", hash: "SHA-256" };
const signaturesMax = 10;

function invalid(why: string): EmendError {
  return new EmendError("invalid_signature", `webhook refused: ${why}`);
}

function header(headers: WebhookRequest["headers"], name: string): string {
  const found = typeof headers.get === "function" ? headers.get(name) : fromRecord(headers as object, name);
  if (typeof found !== "string" || found === "") throw invalid(`the header ${name} is missing`);
  return found;
}

function fromRecord(headers: object, name: string): unknown {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function keyBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(secret.trim().replace(/^whsec_/, ""));
  if (!bytes || bytes.length === 0) {
    throw new EmendError("invalid_request", "the secret must be whsec_ followed by base64");
  }
  return bytes;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function parseEvent(id: string, body: Uint8Array): WebhookEvent {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof parsed === "object" && parsed !== null && "type" in parsed && typeof parsed.type === "string") {
      return { ...(parsed as WebhookEvent), id };
    }
  } catch {
    // Reported below, like anything else that is not an event.
  }
  throw new EmendError(
    "invalid_response",
    "the webhook is signed, but its body is not an event. Does the webhook use the Slack format?",
  );
}
