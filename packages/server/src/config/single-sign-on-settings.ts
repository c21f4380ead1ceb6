import { roles } from "../accounts/people/user.ts";
import type { SingleSignOnConfig } from "../accounts/single-sign-on/single-sign-on.ts";

/** The settings of single sign-on. Null if no provider is set. */
export function readSingleSignOn(read: (name: string) => string | null, problems: string[]): SingleSignOnConfig | null {
  const issuer = read("EMEND_OIDC_ISSUER");
  const clientId = read("EMEND_OIDC_CLIENT_ID");
  const clientSecret = read("EMEND_OIDC_CLIENT_SECRET");
  const role = read("EMEND_OIDC_DEFAULT_ROLE") ?? "viewer";
  const domains = (read("EMEND_OIDC_DOMAINS") ?? "").split(",").map((domain) => domain.trim().toLowerCase());
  const name = read("EMEND_OIDC_NAME");
  if (issuer === null) {
    const alone = dependent.filter((variable) => read(variable) !== null);
    if (alone.length > 0) problems.push(`EMEND_OIDC_ISSUER is required with ${alone.join(", ")}`);
    return null;
  }
  for (const domain of domains.filter((each) => each !== "" && !isDomain(each))) {
    problems.push(`EMEND_OIDC_DOMAINS must be domains such as example.com, separated by commas, not "${domain}"`);
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
  const defaultRole = roles.find((known) => known === role);
  if (!defaultRole) problems.push(`EMEND_OIDC_DEFAULT_ROLE must be one of ${roles.join(", ")}, not "${role}"`);
  return {
    issuer,
    clientId: clientId ?? "",
    clientSecret: clientSecret ?? "",
    name: name ?? URL.parse(issuer)?.host ?? issuer,
    domains: domains.filter((domain) => domain !== ""),
    defaultRole: defaultRole ?? "viewer",
  };
}

const dependent = [
  "EMEND_OIDC_CLIENT_ID",
  "EMEND_OIDC_CLIENT_SECRET",
  "EMEND_OIDC_DEFAULT_ROLE",
  "EMEND_OIDC_DOMAINS",
  "EMEND_OIDC_NAME",
];

/** The part after the @ of an address. */
function isDomain(text: string): boolean {
  return /^([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z\d-]{2,}$/.test(text);
}

/** Plain http only for a provider on this machine, as in tests. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.search || url.hash || url.username) return false;
  const isHere = url.hostname === "127.0.0.1" || url.hostname === "localhost" || url.hostname === "[::1]";
  return url.protocol === "https:" || (url.protocol === "http:" && isHere);
}
