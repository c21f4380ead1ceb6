import { type LookupAddress, lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { mayConnect } from "./public-address.ts";

export type ResolveAll = (host: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

/** The address that was judged is the one that is connected to: a name that resolves anew, elsewhere, is never asked twice. */
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

export class AddressRefused extends Error {
  constructor() {
    super("the address is not a public one");
    this.name = "AddressRefused";
  }
}
