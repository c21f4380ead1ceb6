import { readFileSync } from "node:fs";
import { isIPv6, type LookupFunction } from "node:net";
import { rootCertificates } from "node:tls";
import { EnvHttpProxyAgent, fetch as undiciFetch } from "undici";

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

/** A fetch that uses the operator's proxy and trusted authorities. */
export function createFetch(
  network: Network,
  /** SSRF guard: checks the addresses of names that are connected to without a proxy. */
  options: { lookup?: LookupFunction } = {},
): { fetch: Fetch; close(): Promise<void> } {
  const ca = network.caFile === undefined ? undefined : [...rootCertificates, readFileSync(network.caFile, "utf8")];
  const tls = ca ? { ca } : {};
  const dispatcher = new EnvHttpProxyAgent({
    httpsProxy: network.httpsProxy ?? "",
    httpProxy: network.httpProxy ?? "",
    noProxy: network.noProxy ?? "",
    connect: { ...tls, ...options },
    requestTls: tls,
    proxyTls: tls,
  });
  return {
    // For all callers, model clients included: a key must not be sent to a redirect's target.
    fetch: (url, init) => undiciFetch(url, { ...init, redirect: "manual", dispatcher }) as unknown as ReturnType<Fetch>,
    close: () => dispatcher.destroy(),
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

/** Reads a response body up to a limit, because the sender decides its size. */
export async function readBody(body: AsyncIterable<Uint8Array> | null, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
