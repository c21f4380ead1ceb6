import { createHmac, timingSafeEqual } from "node:crypto";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface Scheme {
  /** Holds the signature. */
  header: string;
  /** What a signature looks like, so that a body is read only for something that may be one. */
  form: RegExp;
  /** What is signed before the body. */
  before?(headers: Headers): string;
  key?(secret: string): Buffer;
  encoding: "hex" | "base64";
  /** In front of the signature. */
  prefix?: string;
  /** When it was sent, in milliseconds: a part of what is signed. */
  sentAt?(headers: Headers, body: Buffer): number;
  /** The same for each delivery of one event, and a part of what is signed. */
  id?(headers: Headers): string;
}

const one = (headers: Headers, name: string) => String(headers[name] ?? "");
const hexOf256 = /^sha256=[0-9a-f]{64}$/;
const base64Of256 = /^[A-Za-z0-9+/]{43}=$/;

/**
 * How services sign their webhooks, each with HMAC-SHA256 and a shared secret: Standard Webhooks, which Emend's own webhooks
 * follow, too; Zendesk; Linear; and what GitHub, Jira and Notion share.
 */
const schemes: readonly Scheme[] = [
  {
    header: "webhook-signature",
    form: /^v1,[A-Za-z0-9+/]{43}=( v\d,\S{1,200}){0,9}$/,
    before: (headers) => `${one(headers, "webhook-id")}.${one(headers, "webhook-timestamp")}.`,
    key: (secret) => Buffer.from(secret.replace(/^whsec_/, ""), "base64"),
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
    sentAt: (_, body) => Number(/"webhookTimestamp":\s*(\d{13})\b/.exec(body.toString("utf8"))?.[1]),
  },
  { header: "x-hub-signature-256", form: hexOf256, encoding: "hex", prefix: "sha256=" },
  { header: "x-hub-signature", form: hexOf256, encoding: "hex", prefix: "sha256=" },
  { header: "x-notion-signature", form: hexOf256, encoding: "hex", prefix: "sha256=" },
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
  const wanted = createHmac("sha256", key(secret))
    .update(before?.(headers) ?? "")
    .update(body)
    .digest(scheme.encoding);
  // While a secret is replaced, there are several signatures.
  const given = one(headers, scheme.header).split(" ");
  if (!given.some((signature) => isSame(signature, prefix + wanted))) return null;
  // Not a number: too old. A service without a time of sending is protected by the identity alone.
  if (sentAt && !(Math.abs(nowMs - sentAt(headers, body)) <= ageMsMax)) return null;
  return `webhook ${id?.(headers) || wanted}`.slice(0, 200);
}

function isSame(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}
