import { createHmac, randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { AddressRefused, guardedLookup, mayConnect, type ResolveAll } from "./ssrf-guard.ts";

interface PostOptions {
  /** Also loopback and private networks; never link-local. */
  allowPrivate: boolean;
  ca?: readonly string[] | undefined;
  signal: AbortSignal;
  resolve?: ResolveAll;
}

interface PostAnswer {
  status: number;
  retryAfter: string | undefined;
}

/**
 * Posts once, over a new connection, to an address that passed the SSRF guard. Redirects are not followed, a proxy is
 * not used (it could connect anywhere), and the response body is discarded.
 */
export async function postMessage(
  url: string,
  message: { headers: Record<string, string>; body: string },
  options: PostOptions,
): Promise<PostAnswer> {
  const { hostname, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  // Checked here too, because the console that added it may lack this process's settings.
  const isPlain = protocol !== "https:" && !options.allowPrivate;
  // An IP address in the URL needs no lookup.
  if (isIP(host) && !mayConnect(host, options)) throw new AddressRefused();
  if (isIP(host) && isPlain) throw new PlainRefused();
  const send = protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = send(url, {
      method: "POST",
      headers: { ...message.headers, "content-length": String(Buffer.byteLength(message.body)) },
      agent: false,
      ...(options.ca && { ca: [...options.ca] }),
      lookup: isPlain ? refusePlain(guardedLookup(options)) : guardedLookup(options),
      signal: options.signal,
    });
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] });
      response.destroy();
    });
    outgoing.end(message.body);
  });
}

/** A private address is reported as that, not as a missing https. */
function refusePlain(lookup: LookupFunction): LookupFunction {
  return (host, options, done) =>
    lookup(host, options, (error, found, family) => done(error ?? new PlainRefused(), found, family));
}

class PlainRefused extends Error {
  constructor() {
    super("the address does not begin with https://");
    this.name = "PlainRefused";
  }
}

const prefix = "whsec_";

/** A secret in Standard Webhooks format. */
export function newWebhookSecret(): string {
  return `${prefix}${randomBytes(32).toString("base64")}`;
}

/**
 * The signature headers of Standard Webhooks, which protect against forgery and replay: one signature for each valid
 * secret, for rotation.
 */
export function signatureHeaders(
  secrets: readonly string[],
  message: { id: string; body: string; sentAtSeconds: number },
): Record<string, string> {
  const keys = secrets.map((secret) => Buffer.from(secret.slice(prefix.length), "base64"));
  const signed = `${message.id}.${message.sentAtSeconds}.${message.body}`;
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(message.sentAtSeconds),
    "webhook-signature": keys.map((key) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`).join(" "),
  };
}
