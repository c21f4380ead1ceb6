import { type Role, roles } from "../accounts/people/user.ts";
import type { SamlConfig } from "../accounts/single-sign-on/saml.ts";
import {
  describeProvider,
  isProviderUrl,
  readProviderMetadata,
  type SamlSource,
} from "../accounts/single-sign-on/saml-provider.ts";
import type { SingleSignOnConfig } from "../accounts/single-sign-on/single-sign-on.ts";

type Read = (name: string) => string | null;

/** The identity provider for logins: one, by OpenID Connect or by SAML. */
export function readProvider(
  read: Read,
  problems: string[],
): { singleSignOn: SingleSignOnConfig | null; saml: SamlConfig | null } {
  const singleSignOn = readSingleSignOn(read, problems);
  const saml = readSaml(read, problems);
  if (singleSignOn && saml) {
    problems.push("EMEND_OIDC_ISSUER and the EMEND_SAML_ variables are both set: keep one identity provider");
  }
  return { singleSignOn, saml };
}

/** The settings of OpenID Connect. Null if no provider is set. */
export function readSingleSignOn(read: Read, problems: string[]): SingleSignOnConfig | null {
  const issuer = read("EMEND_OIDC_ISSUER");
  const clientId = read("EMEND_OIDC_CLIENT_ID");
  const clientSecret = read("EMEND_OIDC_CLIENT_SECRET");
  const access = readAccess("EMEND_OIDC", read, problems);
  const name = read("EMEND_OIDC_NAME");
  if (issuer === null) {
    const alone = [...accessNames("EMEND_OIDC"), "EMEND_OIDC_CLIENT_ID", "EMEND_OIDC_CLIENT_SECRET"].filter(
      (variable) => read(variable) !== null,
    );
    if (alone.length > 0) problems.push(`EMEND_OIDC_ISSUER is required with ${alone.join(", ")}`);
    return null;
  }
  if (!isIssuer(issuer)) {
    problems.push(
      `EMEND_OIDC_ISSUER must be the provider's https URL, as it writes it${URL.parse(issuer)?.password ? "" : `, not "${issuer}"`}`,
    );
  }
  if (clientId === null) problems.push("EMEND_OIDC_CLIENT_ID is required with EMEND_OIDC_ISSUER");
  if (clientSecret === null) {
    problems.push("EMEND_OIDC_CLIENT_SECRET (or EMEND_OIDC_CLIENT_SECRET_FILE) is required with EMEND_OIDC_ISSUER");
  }
  return {
    issuer,
    clientId: clientId ?? "",
    clientSecret: clientSecret ?? "",
    name: name ?? URL.parse(issuer)?.host ?? issuer,
    ...access,
  };
}

const samlNames = ["EMEND_SAML_ENTITY_ID", "EMEND_SAML_SIGN_IN_URL", "EMEND_SAML_CERTIFICATES"] as const;

/** The settings of SAML: a metadata URL, a metadata document, or its three values. Null if no provider is set. */
export function readSaml(read: Read, problems: string[]): SamlConfig | null {
  const url = read("EMEND_SAML_METADATA_URL");
  const document = read("EMEND_SAML_METADATA");
  const values = samlNames.map(read);
  const access = readAccess("EMEND_SAML", read, problems);
  const name = read("EMEND_SAML_NAME");
  const given = [url, document, values.find((value) => value !== null) ?? null].filter((each) => each !== null);
  if (given.length === 0) {
    const alone = accessNames("EMEND_SAML").filter((variable) => read(variable) !== null);
    if (alone.length > 0) problems.push(`EMEND_SAML_METADATA_URL is required with ${alone.join(", ")}`);
    return null;
  }
  if (given.length > 1) {
    problems.push(
      `EMEND_SAML_METADATA_URL, EMEND_SAML_METADATA and ${samlNames.join(" with ")} say the same: set one of the three`,
    );
    return null;
  }
  const source = readSource();
  if (!source) return null;
  const at = source.kind === "url" ? source.url : source.provider.signInUrl;
  return { source, name: name ?? new URL(at).host, ...access };

  function readSource(): SamlSource | null {
    if (url !== null) {
      if (isProviderUrl(url)) return { kind: "url", url };
      problems.push("EMEND_SAML_METADATA_URL must be the https URL of the provider's metadata");
      return null;
    }
    const missing = samlNames.filter((_, at) => document === null && values[at] === null);
    if (missing.length > 0) {
      problems.push(`${missing.join(", ")} (or EMEND_SAML_METADATA_URL) must be set too: ${samlNames.join(", ")}`);
      return null;
    }
    const [entityId = "", signInUrl = "", certificates = ""] = values.map((value) => value ?? "");
    const found =
      document === null ? describeProvider({ entityId, signInUrl, certificates }) : readProviderMetadata(document);
    if (!("problem" in found)) return { kind: "fixed", provider: found };
    problems.push(`${document === null ? "EMEND_SAML_" : "EMEND_SAML_METADATA"} is not valid: ${found.problem}`);
    return null;
  }
}

type Prefix = "EMEND_OIDC" | "EMEND_SAML";

function accessNames(prefix: Prefix): readonly string[] {
  return ["DEFAULT_ROLE", "DOMAINS", "NAME"].map((end) => `${prefix}_${end}`);
}

/** Who gets in without an invitation, and as what. */
function readAccess(prefix: Prefix, read: Read, problems: string[]): { domains: readonly string[]; defaultRole: Role } {
  const role = read(`${prefix}_DEFAULT_ROLE`) ?? "viewer";
  const domains = (read(`${prefix}_DOMAINS`) ?? "").split(",").map((domain) => domain.trim().toLowerCase());
  for (const domain of domains.filter((each) => each !== "" && !isDomain(each))) {
    problems.push(`${prefix}_DOMAINS must be domains such as example.com, separated by commas, not "${domain}"`);
  }
  const defaultRole = roles.find((known) => known === role);
  if (!defaultRole) problems.push(`${prefix}_DEFAULT_ROLE must be one of ${roles.join(", ")}, not "${role}"`);
  return { domains: domains.filter((domain) => domain !== ""), defaultRole: defaultRole ?? "viewer" };
}

/** The part after the @ of an address. */
function isDomain(text: string): boolean {
  return /^([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z\d-]{2,}$/.test(text);
}

function isIssuer(text: string): boolean {
  return isProviderUrl(text) && !URL.parse(text)?.search;
}
