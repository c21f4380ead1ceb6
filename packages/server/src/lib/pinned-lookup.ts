import { isIPv6, type LookupFunction } from "node:net";

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
