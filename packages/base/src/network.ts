import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { isIPv6, type LookupFunction } from "node:net";
import { rootCertificates } from "node:tls";
import type { EnvHttpProxyAgent } from "undici";

/** The operator's network settings, for every client and git. */
export interface Network {
  httpsProxy?: string;
  httpProxy?: string;
  noProxy?: string;
  /** A PEM file with additional trusted authorities. */
  caFile?: string;
}

export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    redirect: "manual";
    signal: AbortSignal;
  },
) => Promise<{ status: number; headers: Headers; body: AsyncIterable<Uint8Array> | null }>;

/** The usual certificate authorities and the operator's. Undefined: only the usual ones. */
export function authoritiesOf({ caFile }: { caFile?: string | null }): string[] | undefined {
  return caFile ? [...rootCertificates, readFileSync(caFile, "utf8")] : undefined;
}

/**
 * A fetch that uses the operator's proxy and trusted authorities. Its client is loaded by the first request, because
 * most administrative commands send none and would take a sixth longer to start.
 */
export function createFetch(
  network: Network,
  /** SSRF guard: checks the addresses of names that are connected to without a proxy. */
  options: { lookup?: LookupFunction } = {},
): { fetch: Fetch; dispatcher(): Promise<EnvHttpProxyAgent>; close(): Promise<void> } {
  const ca = authoritiesOf(network);
  const tls = ca ? { ca } : {};
  let opened: ReturnType<typeof openClient> | undefined;
  async function openClient() {
    const { EnvHttpProxyAgent, fetch } = await import("undici");
    const dispatcher = new EnvHttpProxyAgent({
      httpsProxy: network.httpsProxy ?? "",
      httpProxy: network.httpProxy ?? "",
      noProxy: network.noProxy ?? "",
      // Callers have time limits of their own, of up to five minutes: this one must not be shorter.
      headersTimeout: 330_000,
      connect: { ...tls, ...options },
      requestTls: tls,
      proxyTls: tls,
    });
    return { fetch, dispatcher };
  }
  const client = () => (opened ??= openClient());
  return {
    async fetch(url, init) {
      const { fetch, dispatcher } = await client();
      // For all callers, model clients included: a key must not be sent to a redirect's target.
      return fetch(url, { ...init, redirect: "manual", dispatcher }) as unknown as ReturnType<Fetch>;
    },
    dispatcher: async () => (await client()).dispatcher,
    close: async () => (await opened)?.dispatcher.destroy(),
  };
}

/** Resolves only pinned names, without DNS. */
export function pinnedLookup(pins: ReadonlyMap<string, readonly string[]>): LookupFunction {
  return (host, options, done) => {
    const found = (pins.get(host) ?? []).map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const [first] = found;
    if (!first) return done(new Error(`no address is pinned to ${host}`), "", 0);
    if (options.all) done(null, found);
    else done(null, first.address, first.family);
  };
}

export class AnswerTooLong extends Error {
  constructor() {
    super("the answer is too long");
    this.name = "AnswerTooLong";
  }
}

/** Reads a response body up to a limit, because the sender decides its size. */
export async function readBody(body: AsyncIterable<Uint8Array> | null, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new AnswerTooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The URL by which a browser reached this server. If the server's own URL is a loopback address (no EMEND_PUBLIC_URL on
 * a laptop), any loopback name and port is accepted: `localhost` for `127.0.0.1`, or a forwarded port. Otherwise it is
 * the public URL: another Host header may be a DNS rebinding attack.
 */
export function addressUsed(headers: IncomingHttpHeaders, publicUrl: string): string {
  const own = new URL(publicUrl);
  const used = URL.parse(`http://${headers.host}`);
  if (own.protocol !== "http:" || !used || used.host !== headers.host) return publicUrl;
  if (!isLoopback(own.hostname) || !isLoopback(used.hostname)) return publicUrl;
  return `http://${used.host}${own.pathname === "/" ? "" : own.pathname}`;
}

export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** CSRF: browsers send Origin with every write, and another site cannot forge it. A cookie alone proves nothing. */
export function isFromOwnPage(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return false;
  return headers.origin === new URL(addressUsed(headers, publicUrl)).origin;
}
