import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { BlockList, isIP, isIPv4, type LookupFunction } from "node:net";
import { createFetch, type Network } from "@emend/base/network.ts";

/** Never allowed: cloud metadata services. */
const metadata = blockListOf([
  "169.254.0.0/16",
  "fe80::/10",
  "100.100.100.200/32",
  "fd00:ec2::254/128",
  // The same address embedded in IPv6 forms.
  "::a9fe:0/112",
  "64:ff9b::a9fe:0/112",
  "2002:a9fe::/32",
]);

const notPublic = blockListOf([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // Special ranges inside IPv6's global space: Teredo, documentation, 6to4 (which embeds any IPv4 address).
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
]);
const globalIpv6 = blockListOf(["2000::/3"]);

/** Whether a request may be sent to this address, in any notation. */
export function mayConnect(address: string, options: { allowPrivate: boolean }): boolean {
  const plain = mappedIpv4(address) ?? address;
  const family = isIPv4(plain) ? "ipv4" : "ipv6";
  if (metadata.check(plain, family)) return false;
  if (options.allowPrivate) return true;
  if (family === "ipv6" && !globalIpv6.check(plain, "ipv6")) return false;
  return !notPublic.check(plain, family);
}

/** The IPv4 address in an IPv4-mapped IPv6 address: `::ffff:127.0.0.1`, or in hexadecimal. */
function mappedIpv4(address: string): string | undefined {
  const mapped = URL.parse(`http://[${address.split("%", 1)[0]}]/`)?.hostname;
  const match = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(mapped ?? "");
  if (!match) return undefined;
  const [high, low] = [Number.parseInt(match[1] ?? "", 16), Number.parseInt(match[2] ?? "", 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = "", bits] = range.split("/");
    list.addSubnet(net, Number(bits), isIPv4(net) ? "ipv4" : "ipv6");
  }
  return list;
}

export type ResolveAll = (host: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

/** Connects to the address that was checked: the name is not resolved a second time (DNS rebinding). */
export function guardedLookup(options: { allowPrivate: boolean; resolve?: ResolveAll }): LookupFunction {
  const resolve: ResolveAll = options.resolve ?? ((host, done) => systemLookup(host, { all: true }, done));
  return (host, lookupOptions, callback) => {
    resolve(host, (error, found) => {
      if (error) return callback(error, "", 0);
      const allowed = found.filter(({ address }) => mayConnect(address, options));
      const [first] = allowed;
      if (!first) return callback(new AddressRefused(), "", 0);
      if (lookupOptions.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** A fetch that connects to public addresses only, or also to private ones; to metadata services never. */
export function createGuardedFetch(
  network: Network,
  options: { allowPrivate: boolean; resolve?: ResolveAll | undefined },
): { fetch: typeof globalThis.fetch; close(): Promise<void> } {
  const { allowPrivate, resolve } = options;
  const client = createFetch(network, { lookup: guardedLookup({ allowPrivate, ...(resolve && { resolve }) }) });
  const fetch = async (url: string | URL, init: never) => {
    const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
    // An IP address in the URL needs no lookup.
    if (isIP(host) && !mayConnect(host, { allowPrivate })) throw new AddressRefused();
    return client.fetch(String(url), init);
  };
  return { fetch: fetch as unknown as typeof globalThis.fetch, close: client.close };
}

export class AddressRefused extends Error {
  constructor() {
    super("the address is not public");
    this.name = "AddressRefused";
  }
}

/** Whether a URL can only be used with EMEND_ALLOW_PRIVATE_WEBHOOKS, judged by its text. */
export function needsPrivate(given: string): boolean {
  const { protocol, hostname } = new URL(given);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host)) return protocol === "http:" || !mayConnect(host, { allowPrivate: false });
  return protocol === "http:" || host === "localhost" || host.endsWith(".localhost");
}
