import { X509Certificate } from "node:crypto";
import { childrenOf, onlyChild, parseXml, textOf } from "./xml.ts";

/** A SAML 2.0 identity provider, as its metadata describes it. */
export interface SamlProvider {
  entityId: string;
  signInUrl: string;
  /** PEM. Each may sign: during a roll-over there are two. */
  certificates: readonly string[];
}

export type SamlSource = { kind: "fixed"; provider: SamlProvider } | { kind: "url"; url: string };

const redirectBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect";
const keyBitsMin = 2048;

/** Reads a provider's metadata document, or says what is wrong with it. */
export function readProviderMetadata(xml: string): SamlProvider | { problem: string } {
  const root = parseXml(xml, "metadata", "EntityDescriptor");
  if (!root) return { problem: "it is not a SAML metadata document of one provider" };
  const provider = onlyChild(root, "metadata", "IDPSSODescriptor");
  if (!provider) return { problem: "it does not describe an identity provider" };
  const signIn = childrenOf(provider, "metadata", "SingleSignOnService").find(
    (each) => each.getAttribute("Binding") === redirectBinding,
  );
  const keys = childrenOf(provider, "metadata", "KeyDescriptor")
    .filter((key) => key.getAttribute("use") !== "encryption")
    .flatMap((key) => childrenOf(key, "signature", "KeyInfo"))
    .flatMap((info) => childrenOf(info, "signature", "X509Data"))
    .flatMap((data) => childrenOf(data, "signature", "X509Certificate"))
    .map((each) => `-----BEGIN CERTIFICATE-----\n${textOf(each).replace(/\s+/g, "\n")}\n-----END CERTIFICATE-----`);
  return describeProvider({
    entityId: root.getAttribute("entityID") ?? "",
    signInUrl: signIn?.getAttribute("Location") ?? "",
    certificates: keys.join("\n"),
  });
}

/** Checks what an operator or a metadata document says of a provider. */
export function describeProvider(given: {
  entityId: string;
  signInUrl: string;
  certificates: string;
}): SamlProvider | { problem: string } {
  const { entityId, signInUrl } = given;
  if (!/^[!-~]{1,1024}$/.test(entityId)) return { problem: "its entity ID is not of 1 to 1024 ASCII characters" };
  if (!isProviderUrl(signInUrl)) return { problem: "it has no https sign-in URL for HTTP-Redirect" };
  const blocks = given.certificates.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const certificates = blocks.flatMap((pem) => readCertificate(pem) ?? []);
  if (certificates.length === 0 || certificates.length < blocks.length) {
    return { problem: `its signing certificates are not X.509 with RSA keys of at least ${keyBitsMin} bits` };
  }
  return { entityId, signInUrl, certificates };
}

/** Its dates are not checked: providers pin the key, and many of their certificates have expired. */
function readCertificate(pem: string): string | null {
  try {
    const certificate = new X509Certificate(pem);
    const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
    const isStrong = asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= keyBitsMin;
    return isStrong ? certificate.toString() : null;
  } catch {
    return null;
  }
}

/** Plain http only for a provider on this machine, as in tests. */
export function isProviderUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.hash || url.username || url.password) return false;
  const isHere = ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && isHere);
}
