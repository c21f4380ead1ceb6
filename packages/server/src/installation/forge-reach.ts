import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import type { JudgedReach } from "../forge/forge-project.ts";
import { createFetch } from "../lib/network.ts";
import { AddressRefused, guardedLookup, mayConnect, type ResolveAll } from "../notify/ssrf-guard.ts";

/**
 * SSRF guard for forges that maintainers name, for context repositories or new projects: loopback and private networks
 * only if the operator allows them, and cloud metadata never. On the console everything is allowed.
 */
export interface ForgeReach extends JudgedReach {
  close(): Promise<void>;
}

export function createForgeReach(
  config: Pick<Config, "network" | "allowPrivateForges">,
  options: { resolve?: ResolveAll } = {},
): ForgeReach {
  const { network, allowPrivateForges: allowPrivate } = config;
  const client = createFetch(network, { lookup: guardedLookup({ allowPrivate, ...options }) });

  async function addressesOf(url: string): Promise<readonly string[] | null> {
    const { hostname, protocol } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, "");
    const isProxied = Boolean(protocol === "https:" ? network.httpsProxy : network.httpProxy);
    const found = isIP(host) ? [host] : await resolve(host);
    // Behind a proxy this machine may have no DNS. The proxy must then check what it connects to.
    if (found === null && isProxied) return null;
    if (found === null || found.length === 0) {
      throw new AppError("repository_unavailable", {
        publicMessage: `${host} has no address just now.`,
        retryable: true,
      });
    }
    const allowed = found.filter((address) => mayConnect(address, { allowPrivate }));
    if (allowed.length === 0 || (isProxied && allowed.length < found.length)) throw refused(host);
    return allowed;
  }

  async function resolve(host: string): Promise<readonly string[] | null> {
    const { resolve: ask } = options;
    const found = ask
      ? await new Promise<{ address: string }[] | null>((done) =>
          ask(host, (error, addresses) => done(error ? null : addresses)),
        )
      : await lookup(host, { all: true }).catch(() => null);
    return found?.map(({ address }) => address) ?? null;
  }

  return {
    addressesOf,
    async fetch(url, init) {
      // An IP address in the URL needs no lookup.
      if (isIP(new URL(url).hostname.replace(/^\[|\]$/g, ""))) await addressesOf(url);
      try {
        return await client.fetch(url, init);
      } catch (error) {
        const { cause } = error as { cause?: unknown };
        throw cause instanceof AddressRefused ? refused(new URL(url).hostname, cause) : error;
      }
    },
    close: client.close,
  };
}

function refused(host: string, cause?: Error): AppError {
  return new AppError("repository_unavailable", {
    cause,
    publicMessage: `${host} is on this server's own network, where repositories are not read from. An administrator can allow it with EMEND_ALLOW_PRIVATE_FORGES=true.`,
  });
}
