import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { createFetch } from "@emend/base/network.ts";
import type { ForgeName } from "@emend/contract";
import { type Forge, type JudgedReach, normalizeRepository, openJudgedForge, type Polling } from "@emend/forges";
import type { Remote } from "@emend/tree";
import type { ContextRepository } from "../accounts/projects/context-repositories.ts";
import { parseProjectSettings } from "../accounts/projects/project-settings.ts";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { openLocalForge } from "../forge/local/local-forge.ts";
import type { ForgeDeps } from "../forge/open-forge.ts";
import { AddressRefused, guardedLookup, mayConnect, type ResolveAll } from "../notify/ssrf-guard.ts";

/**
 * SSRF guard for every forge, by fetch and by git: loopback and private networks only if the operator allows them or the
 * console named the server, and cloud metadata never.
 */
export interface ForgeReach extends JudgedReach {
  close(): Promise<void>;
}

export function createForgeReach(
  config: Pick<Config, "network" | "allowPrivateForges">,
  options: { resolve?: ResolveAll; isTrusted?(origin: string): Promise<boolean> } = {},
): ForgeReach {
  const { network, allowPrivateForges: allowPrivate } = config;
  const { resolve: ask, isTrusted = async () => false } = options;
  const client = createFetch(network, { lookup: guardedLookup({ allowPrivate, ...(ask && { resolve: ask }) }) });
  let trusted: ReturnType<typeof createFetch> | undefined;

  async function addressesOf(url: string): Promise<readonly string[] | null> {
    const { hostname, protocol, origin } = new URL(url);
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
    if (allowed.length > 0 && !(isProxied && allowed.length < found.length)) return allowed;
    if (await isTrusted(origin)) return null;
    throw refused(host);
  }

  async function resolve(host: string): Promise<readonly string[] | null> {
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
      const { hostname, origin } = new URL(url);
      const host = hostname.replace(/^\[|\]$/g, "");
      try {
        // An IP address in the URL needs no lookup.
        if (isIP(host) && !mayConnect(host, { allowPrivate })) throw new AddressRefused();
        return await client.fetch(url, init);
      } catch (error) {
        const refusal = [error, (error as { cause?: unknown }).cause].find((each) => each instanceof AddressRefused);
        if (!refusal) throw error;
        if (!(await isTrusted(origin))) throw refused(hostname, refusal as Error);
        trusted ??= createFetch(network);
        return trusted.fetch(url, init);
      }
    },
    close: async () => void (await Promise.all([client.close(), trusted?.close()])),
  };
}

function refused(host: string, cause?: Error): AppError {
  return new AppError("repository_unavailable", {
    cause,
    publicMessage: `${host} is on this server's own network, where repositories are not read from. An administrator can allow it with EMEND_ALLOW_PRIVATE_FORGES=true.`,
  });
}

export type ContextForges = Pick<ForgeDeps, "local" | "githubTokens" | "reach">;

/**
 * How git reads a context repository: with its own token, or none if it is public. The SSRF guard checks its addresses
 * now, because they may have changed since it was added.
 */
export async function contextRemoteOf(
  forges: ContextForges,
  repository: Pick<ContextRepository, "id" | "forge" | "repositoryUrl" | "apiUrl"> & { credential: string | null },
  signal: AbortSignal,
): Promise<Remote> {
  const opened = contextForgeOf(forges, repository);
  if (opened) return opened.gitRemote(signal);
  const { forge, repositoryUrl, apiUrl } = repository;
  const { url } = normalizeRepository(forge as RemoteName, repositoryUrl, settingsWith(apiUrl));
  const addresses = await forges.reach.addressesOf(url);
  return { url: `${url}.git`, authorization: null, ...(addresses !== null && { addresses }) };
}

type RemoteName = Exclude<ForgeName, "local">;

function settingsWith(apiUrl: string | null) {
  return parseProjectSettings({ forge: { apiUrl } }).forge;
}

/** The forge of a context repository, where something can be said; null: it is read without a token. */
export function contextForgeOf(
  forges: ContextForges,
  { id, forge, repositoryUrl, apiUrl, credential }: Parameters<typeof contextRemoteOf>[1],
  polling?: Polling,
): Forge | null {
  if (forge === "local") return openLocalForge(forges.local, localProjectOf(repositoryUrl));
  if (credential === null) return null;
  const settings = settingsWith(apiUrl);
  const { url } = normalizeRepository(forge, repositoryUrl, settings);
  const project = { id, forge, repositoryUrl: url, settings };
  const input = { tokens: forges.githubTokens, credential, project, ...(polling && { polling }) };
  return openJudgedForge(input, forges.reach);
}

/** The project of a local URL: the host changes with the installation's, the path does not. */
export function localProjectOf(repositoryUrl: string): string {
  const id = /\/git\/([A-Za-z0-9_-]+)\.git$/.exec(repositoryUrl)?.[1];
  if (id !== undefined) return id;
  throw new AppError("invalid_request", { publicMessage: "This is not a repository of the local forge." });
}
