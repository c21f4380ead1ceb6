import { SAML } from "@node-saml/node-saml";
import type { Element } from "@xmldom/xmldom";
import { AppError } from "../../errors.ts";
import { providerFault } from "./provider.ts";
import type { SamlProvider } from "./saml-provider.ts";
import { childrenOf, everyElement, onlyChild, parseXml, textOf } from "./xml.ts";

/** Whose response it must be, and for whom. */
interface Expected {
  provider: SamlProvider;
  /** Ours: the audience. */
  entityId: string;
  /** Where the provider posts its response: the recipient. */
  acsUrl: string;
}

/** What the provider signed. */
export interface SamlLogin {
  /** The request that it answers. */
  requestId: string;
  nameId: string;
  /** Only those with one value. */
  attributes: ReadonlyMap<string, string>;
}

/** Elements and attributes: verifying takes the square of their number. Responses have about a hundred. */
const nodesMax = 600;
const clockToleranceMs = 60_000;
export const persistentFormat = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
const successStatus = "urn:oasis:names:tc:SAML:2.0:status:Success";
const bearerMethod = "urn:oasis:names:tc:SAML:2.0:cm:bearer";

/** Verifies a response as it was posted. Nothing is read from it but what the provider signed. */
export async function readResponse(posted: string, expected: Expected): Promise<SamlLogin> {
  const xml = decode(posted);
  if ((xml.match(/<[^/]|=/g)?.length ?? 0) > nodesMax) {
    throw providerFault("its response is too long. Have it send fewer attributes and groups to Emend");
  }
  const response = parseXml(xml, "protocol", "Response");
  // Comments and the like split texts, which programs then read differently. No provider writes them.
  if (!response || /<!|<\?(?!xml\s)/.test(xml)) throw providerFault("its response is not a plain SAML response");
  assertSuccess(response);
  const destination = response.getAttribute("Destination");
  if (destination !== null && destination !== expected.acsUrl) throw providerFault(elsewhere);
  if (everyElement(response, "EncryptedAssertion").length > 0) {
    throw providerFault("it encrypts its assertions, which is not supported. Turn encryption off for Emend there");
  }
  if (everyElement(response, "Assertion").length !== 1) throw providerFault("its response must have one assertion");
  assertAlgorithms(response);
  const assertion = parseXml(await readSigned(xml, expected), "assertion", "Assertion");
  if (!assertion) throw providerFault("what it signed is not an assertion");
  return readAssertion(assertion, expected);
}

const elsewhere = "its response is for another URL than this installation's";

function decode(posted: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(posted, "base64"));
  } catch {
    throw providerFault("its response is not text");
  }
}

/** Not signed in most responses of this kind, so it can only refuse. Its own words are not repeated. */
function assertSuccess(response: Element): void {
  const status = onlyChild(onlyChild(response, "protocol", "Status"), "protocol", "StatusCode");
  if (status?.getAttribute("Value") === successStatus) return;
  const codes = status ? [status, ...childrenOf(status, "protocol", "StatusCode")] : [];
  const found = codes.flatMap((code) => {
    const name = code.getAttribute("Value")?.replace(/^.*:/, "") ?? "";
    return Object.hasOwn(reasons, name) ? (reasons[name] ?? []) : [];
  });
  throw new AppError("forbidden", {
    publicMessage: `The identity provider did not log you in: ${found.at(-1) ?? "it gave no reason that is known here"}.`,
  });
}

const reasons: Readonly<Record<string, string>> = {
  AuthnFailed: "it could not authenticate you",
  InvalidNameIDPolicy: "it does not give persistent name IDs to Emend",
  RequestDenied: "it denied the request",
  Requester: "it did not accept the request",
  Responder: "it has an internal error",
  UnknownPrincipal: "it does not know you",
};

/** SHA-1, and transformations that sign something else than what is read, are not among them. */
const algorithms: ReadonlySet<string | null> = new Set([
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
  "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
  "http://www.w3.org/2001/04/xmlenc#sha256",
  "http://www.w3.org/2001/04/xmlenc#sha512",
  "http://www.w3.org/2001/10/xml-exc-c14n#",
  "http://www.w3.org/2000/09/xmldsig#enveloped-signature",
]);

function assertAlgorithms(response: Element): void {
  const uses = ["SignatureMethod", "DigestMethod", "CanonicalizationMethod", "Transform"].flatMap((name) =>
    everyElement(response, name, "signature"),
  );
  if (uses.every((use) => algorithms.has(use.getAttribute("Algorithm")))) return;
  throw providerFault("it signs with an algorithm that is not accepted. It must use RSA with SHA-256");
}

/** The assertion's XML as it was signed, by itself or as part of the response. */
async function readSigned(xml: string, { provider, entityId, acsUrl }: Expected): Promise<string> {
  const library = new SAML({
    issuer: entityId,
    callbackUrl: acsUrl,
    idpCert: [...provider.certificates],
    // Then one of the two signatures is required.
    wantAuthnResponseSigned: false,
    wantAssertionsSigned: false,
    // Checked below, where each refusal has its own words.
    audience: false,
    acceptedClockSkewMs: -1,
  });
  try {
    const { profile } = await library.validatePostResponseAsync({
      SAMLResponse: Buffer.from(xml).toString("base64"),
    });
    return profile?.getAssertionXml?.() ?? "";
  } catch (error) {
    const cause = new Error(String((error as Error).message).slice(0, 300));
    throw providerFault("its response is not signed with a certificate that is configured for it", cause);
  }
}

function readAssertion(assertion: Element, expected: Expected): SamlLogin {
  if (textOf(onlyChild(assertion, "assertion", "Issuer")) !== expected.provider.entityId) {
    throw providerFault("its response comes from another provider");
  }
  const conditions = onlyChild(assertion, "assertion", "Conditions");
  if (!conditions || !isNow(conditions)) throw providerFault(untimely);
  const audiences = childrenOf(conditions, "assertion", "AudienceRestriction");
  const isForUs = (restriction: Element) =>
    childrenOf(restriction, "assertion", "Audience").some((audience) => textOf(audience) === expected.entityId);
  if (audiences.length === 0 || !audiences.every(isForUs)) throw providerFault("its response is for another service");
  const subject = onlyChild(assertion, "assertion", "Subject");
  const nameId = onlyChild(subject, "assertion", "NameID");
  // Other formats change, or are given to somebody else later.
  if (nameId?.getAttribute("Format") !== persistentFormat) {
    throw providerFault("its name ID for you is not persistent. Choose the format Persistent for Emend there");
  }
  const name = textOf(nameId);
  // Safe as a key of ours: it is compared, stored and logged.
  if (!/^[ -~]{1,255}$/.test(name)) throw providerFault("its name ID for you is not of 1 to 255 ASCII characters");
  if (childrenOf(assertion, "assertion", "AuthnStatement").length === 0) {
    throw providerFault("it does not say that you logged in");
  }
  return { requestId: readConfirmation(subject, expected), nameId: name, attributes: readAttributes(assertion) };
}

const untimely = "its response has expired, or its clock differs from this server's";

/** Who carries the assertion here: a browser, from our request, to us, now. */
function readConfirmation(subject: Element | null, { acsUrl }: Expected): string {
  const confirmation = onlyChild(subject, "assertion", "SubjectConfirmation");
  const data = onlyChild(confirmation, "assertion", "SubjectConfirmationData");
  if (!data || confirmation?.getAttribute("Method") !== bearerMethod) {
    throw providerFault("its response is not for a browser");
  }
  if (data.getAttribute("Recipient") !== acsUrl) throw providerFault(elsewhere);
  if (data.getAttribute("NotOnOrAfter") === null || !isNow(data)) throw providerFault(untimely);
  const requestId = data.getAttribute("InResponseTo");
  if (!requestId) {
    throw new AppError("forbidden", {
      publicMessage: "Logins start at Emend, not at the identity provider. Continue here to log in.",
    });
  }
  return requestId;
}

function isNow(element: Element): boolean {
  const [from, until] = ["NotBefore", "NotOnOrAfter"].map((name) => element.getAttribute(name));
  const nowMs = Date.now();
  if (from && !(timeOf(from) <= nowMs + clockToleranceMs)) return false;
  return !until || timeOf(until) > nowMs - clockToleranceMs;
}

/** NaN, which is never now, if it is not in UTC. */
function timeOf(text: string): number {
  return text.endsWith("Z") ? Date.parse(text) : Number.NaN;
}

function readAttributes(assertion: Element): ReadonlyMap<string, string> {
  const found = childrenOf(assertion, "assertion", "AttributeStatement")
    .flatMap((statement) => childrenOf(statement, "assertion", "Attribute"))
    .flatMap((attribute): [string, string][] => {
      const value = onlyChild(attribute, "assertion", "AttributeValue");
      return value ? [[attribute.getAttribute("Name") ?? "", textOf(value)]] : [];
    });
  return new Map(found);
}
