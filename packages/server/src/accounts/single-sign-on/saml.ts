import { randomBytes } from "node:crypto";
import type { Fetch } from "@emend/base/network.ts";
import { SAML } from "@node-saml/node-saml";
import type { Pool } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import type { Role } from "../people/user.ts";
import type { Sealer } from "../secrets.ts";
import { boundedFetch, keepFor, providerFault } from "./provider.ts";
import { readProviderMetadata, type SamlProvider, type SamlSource } from "./saml-provider.ts";
import { persistentFormat, readResponse, type SamlLogin } from "./saml-response.ts";
import {
  cleanName,
  type Identity,
  journeyMinutes,
  openSealed,
  otherBrowser,
  type SingleSignOn,
  wordsOf,
} from "./single-sign-on.ts";

/** A SAML 2.0 identity provider, from the environment. */
export interface SamlConfig {
  source: SamlSource;
  /** The name on the login page's button. */
  name: string;
  /** People with an address of these domains get in without an invitation. Empty: nobody. */
  domains: readonly string[];
  /** Their role. */
  defaultRole: Role;
}

interface SamlDeps {
  fetch: Fetch;
  sealer: Sealer;
  pool: Pick<Pool, "query">;
  publicUrl(): string;
}

/** The encrypted state that a browser keeps while it is at the provider. */
interface Journey {
  requestId: string;
  landsOn: string;
  expiresAtMs: number;
}

/** What the provider signed, encrypted, on its way from its own form to a page of ours. */
interface Arrival {
  requestId: string;
  identity: Identity;
  expiresAtMs: number;
}

const journeyContext = "saml journey";
const arrivalContext = "saml arrival";

/**
 * Single sign-on by SAML 2.0. The provider's form is posted from another site, so the browser sends no cookies with it.
 * The response is verified then, and counts only on the page that follows, which gets the cookie of the browser that left.
 */
export function createSaml(deps: SamlDeps, config: SamlConfig): SingleSignOn {
  const { sealer } = deps;
  const { name, domains, defaultRole, source } = config;
  const read = openProvider(deps.fetch, source);
  const at = (end: string) => `${deps.publicUrl()}/dashboard/api/auth/saml/${end}`;
  const own = () => ({ entityId: at("metadata"), acsUrl: at("acs") });
  const sealed = (value: Journey | Arrival, context: string) =>
    sealer.seal(JSON.stringify(value), context).toString("base64url");
  const expiry = () => Date.now() + journeyMinutes * 60_000;

  return {
    name,
    domains,
    defaultRole,
    get description() {
      const provider = source.kind === "url" ? source.url : source.provider.entityId;
      return { protocol: "saml", name, provider, ...own(), domains, defaultRole } as const;
    },
    ...wordsOf(sealer),
    async start({ landsOn }) {
      const requestId = `_${randomBytes(20).toString("hex")}`;
      const provider = await read();
      const location = await createLibrary(own(), provider, requestId).getAuthorizeUrlAsync("", undefined, {});
      return { location, sealed: sealed({ requestId, landsOn, expiresAtMs: expiry() }, journeyContext) };
    },
    async finish({ sealed: cookie, query }) {
      const journey = openAs<Journey>(sealer, cookie, journeyContext);
      const arrival = openAs<Arrival>(sealer, query.arrival, arrivalContext);
      if (!journey || !arrival || arrival.requestId !== journey.requestId) throw otherBrowser();
      await spendRequest(deps.pool, journey.requestId);
      return { identity: arrival.identity, landsOn: journey.landsOn };
    },
    saml: {
      metadata: () => createLibrary(own()).generateServiceProviderMetadata(null),
      async receive(posted) {
        const provider = await read();
        const login = await readResponse(posted, { provider, ...own() });
        const identity = identityOf(provider, login);
        return sealed({ requestId: login.requestId, identity, expiresAtMs: expiry() }, arrivalContext);
      },
    },
  };
}

/** For what we send: requests, and our metadata. Responses are verified elsewhere. */
function createLibrary(own: { entityId: string; acsUrl: string }, provider?: SamlProvider, requestId?: string): SAML {
  return new SAML({
    issuer: own.entityId,
    callbackUrl: own.acsUrl,
    idpCert: [...(provider?.certificates ?? []), "unused"],
    ...(provider && { entryPoint: provider.signInUrl }),
    ...(requestId !== undefined && { generateUniqueId: () => requestId }),
    identifierFormat: persistentFormat,
    // The provider decides how people prove who they are.
    disableRequestedAuthnContext: true,
    wantAssertionsSigned: true,
  });
}

function openAs<T extends { expiresAtMs: number }>(sealer: Sealer, sealed: unknown, context: string): T | null {
  const opened = typeof sealed === "string" ? openSealed(sealer, sealed, context) : null;
  const value: T | null = opened === null ? null : JSON.parse(opened);
  return value && value.expiresAtMs > Date.now() ? value : null;
}

/** Each request is answered once, whichever node gets the answer. */
async function spendRequest(pool: SamlDeps["pool"], requestId: string): Promise<void> {
  const { rowCount } = await pool.query(
    `insert into saml_logins (request_id, expires_at) values ($1, clock_timestamp() + make_interval(mins => $2))
     on conflict do nothing`,
    [requestId, 2 * journeyMinutes],
  );
  if (rowCount === 1) return;
  throw new AppError("forbidden", { publicMessage: "This login was already used. Start again." });
}

/** Names of attributes, as Okta, Entra, Google, AD FS, Keycloak and directories (LDAP) write them. */
const emailNames = [
  "email",
  "mail",
  "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
  "urn:oid:0.9.2342.19200300.100.1.3",
];
const nameNames = [
  "displayName",
  "name",
  "http://schemas.microsoft.com/identity/claims/displayname",
  "urn:oid:2.16.840.1.113730.3.1.241",
];
const emailLengthMax = 1000;

function identityOf(provider: SamlProvider, { nameId, attributes }: SamlLogin): Identity {
  const first = (names: readonly string[]) => names.map((each) => attributes.get(each)).find((value) => value) ?? "";
  const email = first(emailNames).slice(0, emailLengthMax);
  // SAML has no word for verified addresses: the operator vouches for those of the provider.
  return {
    id: `saml:${provider.entityId} ${nameId}`,
    email,
    isEmailVerified: true,
    name: cleanName(first(nameNames)) || email,
  };
}

/** Reads a metadata URL at login, not at startup: an installation must start while its provider is unavailable. */
export function openProvider(fetch: Fetch, source: SamlSource): () => Promise<SamlProvider> {
  if (source.kind === "fixed") return async () => source.provider;
  const get = boundedFetch(fetch);
  return keepFor(async () => {
    const answer = await get(source.url, { method: "GET", headers: {} });
    if (answer.status !== 200) throw providerFault(`its metadata URL answered ${answer.status}`);
    const read = readProviderMetadata(await answer.text());
    if ("problem" in read) throw providerFault(`its metadata is not valid: ${read.problem}`);
    return read;
  });
}
