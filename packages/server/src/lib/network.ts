import { readFileSync } from "node:fs";
import { isIPv6, type LookupFunction } from "node:net";
import { rootCertificates } from "node:tls";
import { EnvHttpProxyAgent, fetch as undiciFetch } from "undici";

/** What of the operator's network every client must heed, git included. */
export interface Network {
  httpsProxy?: string;
  httpProxy?: string;
  noProxy?: string;
  /** A PEM file with authorities to trust beside the usual ones. */
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

/** A fetch that goes through the operator's proxy and trusts the operator's authorities. */
export function createFetch(
  network: Network,
  /** Judges the addresses of names that are connected to without a proxy. */
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
    // Whoever asks, models' clients too: a key must not follow to wherever its far end sends it.
    fetch: (url, init) => undiciFetch(url, { ...init, redirect: "manual", dispatcher }) as unknown as ReturnType<Fetch>,
    close: () => dispatcher.destroy(),
  };
}

/** Answers with the addresses that were pinned to a name, and asks no name server. */
export function pinnedLookup(pins: ReadonlyMap<string, readonly string[]>): LookupFunction {
  return (host, options, done) => {
    const found = (pins.get(host) ?? []).map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const [first] = found;
    if (!first) return done(new Error(`no address is pinned to ${host}`), "", 0);
    if (options.all) done(null, found);
    else done(null, first.address, first.family);
  };
}

/** The whole body of an answer, as long as it stays within the bound: whoever sends it decides how much there is. */
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
