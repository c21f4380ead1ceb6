import type { Fetch } from "../../lib/network.ts";
import type { Sealer } from "../secrets.ts";
import type { Role } from "../user.ts";
import { finishLogin } from "./finish-login.ts";
import { createProvider } from "./provider.ts";
import { startLogin } from "./start-login.ts";

/** An OpenID Connect provider, as the environment names it. */
export interface SingleSignOnConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** What the login page's button calls it. */
  name: string;
  /** Whoever has a verified address of these gets in without an invitation; empty: nobody does. */
  domains: readonly string[];
  /** What they are then. */
  defaultRole: Role;
}

/** Somebody whom the provider vouches for. */
export interface Identity {
  /** The issuer and its subject: what stays the same when an address changes. */
  id: string;
  email: string;
  /** Nobody is known by an address that the provider has not verified. */
  isEmailVerified: boolean;
  name: string;
}

export interface SingleSignOn {
  name: string;
  domains: readonly string[];
  defaultRole: Role;
  /** For the settings page; nothing secret. */
  description: { name: string; issuer: string; clientId: string; domains: readonly string[]; defaultRole: Role };
  start(
    input: { landsOn: string; redirectUrl: string },
    signal: AbortSignal,
  ): Promise<{ location: string; sealed: string }>;
  /** Refuses, with an AppError in words, whatever the provider did not vouch for to this very browser. */
  finish(
    input: { sealed: string | null; query: Readonly<Record<string, unknown>>; redirectUrl: string },
    signal: AbortSignal,
  ): Promise<{ identity: Identity; landsOn: string }>;
  /** What went wrong travels to the login page sealed: nobody else puts words there. */
  sealWords(words: string): string;
  openWords(sealed: string): string | null;
}

export interface SingleSignOnDeps {
  fetch: Fetch;
  sealer: Sealer;
  now?: () => number;
}

export function createSingleSignOn(deps: SingleSignOnDeps, config: SingleSignOnConfig): SingleSignOn {
  const now = deps.now ?? Date.now;
  const provider = createProvider({ fetch: deps.fetch, now }, config.issuer);
  const shared = { provider, fetch: deps.fetch, sealer: deps.sealer, config, now };
  const { name, issuer, clientId, domains, defaultRole } = config;
  return {
    name,
    domains,
    defaultRole,
    description: { name, issuer, clientId, domains, defaultRole },
    start: (input, signal) => startLogin(shared, input, signal),
    finish: (input, signal) => finishLogin(shared, input, signal),
    sealWords: (words) => deps.sealer.seal(words, wordsContext).toString("base64url"),
    openWords(sealed) {
      try {
        return deps.sealer.open(Buffer.from(sealed, "base64url"), wordsContext);
      } catch {
        return null;
      }
    },
  };
}

export interface LoginDeps {
  provider: ReturnType<typeof createProvider>;
  fetch: Fetch;
  sealer: Sealer;
  config: SingleSignOnConfig;
  now: () => number;
}

const wordsContext = "single sign-on problem";
