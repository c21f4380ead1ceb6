import { createHmac, timingSafeEqual } from "node:crypto";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface Scheme {
  /** Holds the signature. */
  header: string;
  /** What a signature looks like, so that a body is read only for something that may be one. */
  form: RegExp;
  /** What is signed before the body. */
  before?(headers: Headers): string;
  /** Null: the service never makes such a secret. */
  key?(secret: string): Buffer | null;
  encoding: "hex" | "base64";
  /** In front of the signature. */
  prefix?: string;
  /** When it was sent, in milliseconds: a part of what is signed. Undefined: the service does not say. */
  sentAt?(headers: Headers, body: Buffer): number | undefined;
  /** The same for each delivery of one event, and a part of what is signed. */
  id?(headers: Headers): string;
}

const one = (headers: Headers, name: string) => String(headers[name] ?? "");
const hexOf256 = /^sha256=[0-9a-f]{64}$/;
const base64Of256 = /^[A-Za-z0-9+/]{43}=$/;

/** Decoding skips what is not base64, and stops at `=`: of another service's secret, an empty key could be left. */
function keyInBase64(secret: string): Buffer | null {
  const encoded = secret.replace(/^whsec_/, "");
  return /^[\w+/-]{16,}={0,2}$/.test(encoded) ? Buffer.from(encoded, "base64") : null;
}

function timeInBody(body: Buffer): number | undefined {
  const time = /"webhookTimestamp":\s*(\d{13})\b/.exec(body.toString("utf8"))?.[1];
  return time === undefined ? undefined : Number(time);
}

/** An old event of Linear must not come back as another service's, whose signature is the same. */
const body256 = {
  form: hexOf256,
  encoding: "hex",
  prefix: "sha256=",
  sentAt: (_: Headers, body: Buffer) => timeInBody(body),
} as const;

/**
 * How services sign their webhooks, each with HMAC-SHA256 and a shared secret: Standard Webhooks, which Emend's own webhooks
 * follow, too; Zendesk; Linear; and what GitHub, Jira and Notion share.
 */
const schemes: readonly Scheme[] = [
  {
    header: "webhook-signature",
    form: /^v1,[A-Za-z0-9+/]{43}=( v\d,\S{1,200}){0,9}$/,
    before: (headers) => `${one(headers, "webhook-id")}.${one(headers, "webhook-timestamp")}.`,
    key: keyInBase64,
    encoding: "base64",
    prefix: "v1,",
    sentAt: (headers) => Number(one(headers, "webhook-timestamp")) * 1000,
    id: (headers) => one(headers, "webhook-id"),
  },
  {
    header: "x-zendesk-webhook-signature",
    form: base64Of256,
    before: (headers) => one(headers, "x-zendesk-webhook-signature-timestamp"),
    encoding: "base64",
    sentAt: (headers) => Date.parse(one(headers, "x-zendesk-webhook-signature-timestamp")),
  },
  {
    header: "linear-signature",
    form: /^[0-9a-f]{64}$/,
    encoding: "hex",
    sentAt: (_, body) => timeInBody(body) ?? Number.NaN,
  },
  { header: "x-hub-signature-256", ...body256 },
  { header: "x-hub-signature", ...body256 },
  { header: "x-notion-signature", ...body256 },
];

const ageMsMax = 5 * 60_000;

function schemeOf(headers: Headers): Scheme | undefined {
  return schemes.find(({ header, form }) => form.test(one(headers, header)));
}

/** Whether there is a header that may be a signature. */
export function mayBeSignedWebhook(headers: Headers): boolean {
  return schemeOf(headers) !== undefined;
}

/** The event's identity if the secret signed it lately, otherwise null. */
export function verifySignature(
  secret: string,
  { headers, body, nowMs = Date.now() }: { headers: Headers; body: Buffer; nowMs?: number },
): string | null {
  const scheme = schemeOf(headers);
  if (!scheme) return null;
  const { prefix = "", before, key = Buffer.from, sentAt, id } = scheme;
  const signedBy = key(secret);
  if (!signedBy) return null;
  const wanted = createHmac("sha256", signedBy)
    .update(before?.(headers) ?? "")
    .update(body)
    .digest(scheme.encoding);
  // While a secret is replaced, there are several signatures.
  const given = one(headers, scheme.header).split(" ");
  if (!given.some((signature) => isSame(signature, prefix + wanted))) return null;
  // Not a number: too old. A service without a time of sending is protected by the identity alone.
  const sentMs = sentAt?.(headers, body);
  if (sentMs !== undefined && !(Math.abs(nowMs - sentMs) <= ageMsMax)) return null;
  return `webhook ${id?.(headers) || wanted}`.slice(0, 200);
}

function isSame(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}
