import { createPrivateKey, webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { DOMImplementation, DOMParser, XMLSerializer } from "@xmldom/xmldom";

// Their types declare a browser's, for the whole workspace.
const require = createRequire(import.meta.url);
const { IdentityProvider, SamlLib, ServiceProvider, setSchemaValidator } = require("samlify") as Samlify;
const { Application, Parse, SignedXml, Stringify } = require("xmldsigjs") as XmlDsig;

interface Samlify {
  setSchemaValidator(validator: { validate(xml: string): Promise<string> }): void;
  ServiceProvider(settings: { metadata: string }): object;
  IdentityProvider(settings: object): {
    getMetadata(): string;
    parseLoginRequest(
      service: object,
      binding: "redirect",
      request: { query: Readonly<Record<string, string>> },
    ): Promise<{
      extract: { issuer: string; request: { id: string; destination: string; assertionConsumerServiceUrl: string } };
    }>;
    createLoginResponse(
      service: object,
      request: object,
      binding: "post",
      user: object,
      fill: (template: string) => { id: string; context: string },
    ): Promise<{ context: string }>;
  };
  SamlLib: {
    defaultLoginResponseTemplate: { context: string };
    replaceTagsByValue(template: string, values: Readonly<Record<string, string>>): string;
  };
}

interface XmlNode {
  localName: string;
  nextSibling: XmlNode | null;
  childNodes: Iterable<XmlNode>;
  getAttribute(name: string): string | null;
  insertBefore(node: XmlNode, before: XmlNode | null): void;
}

interface XmlDocument {
  getElementsByTagNameNS(namespace: string, name: string): Iterable<XmlNode>;
  importNode(node: XmlNode, isDeep: boolean): XmlNode;
}

interface XmlDsig {
  Application: { setEngine(name: string, engine: unknown): void };
  Parse(xml: string): XmlDocument;
  Stringify(document: XmlDocument): string;
  SignedXml: new () => {
    XmlSignature: {
      SignedInfo: { CanonicalizationMethod: { Algorithm: string } };
      GetXml(): XmlNode;
    };
    Sign(
      algorithm: { name: string; hash: string },
      key: unknown,
      document: XmlDocument,
      options: { references: readonly { uri: string; hash: string; transforms: readonly string[] }[] },
    ): Promise<unknown>;
  };
}

const persistent = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
const redirectBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect";
const signatureMethod = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
const pem = (name: string) => readFileSync(new URL(`certificates/saml-${name}.pem`, import.meta.url), "utf8");

type KeyName = "one" | "two";
export const certificateOf = (name: KeyName | "short") => pem(`${name}.cert`);

setSchemaValidator({ validate: async () => "not validated" });
Application.setEngine("node", webcrypto);
// Its own copy of the library below it has to know how to parse.
const inside = createRequire(require.resolve("xmldsigjs"));
inside("xml-core").setNodeDependencies({ DOMParser, XMLSerializer, DOMImplementation, xpath: inside("xpath") });

/** What the provider says in its next response, and how that is forged. */
export interface SamlScript {
  nameId: string;
  format: string;
  attributes: Readonly<Record<string, string>>;
  /** Null: samlify signs the assertion. Otherwise another implementation signs these parts, in this order. */
  signs: readonly ("Assertion" | "Response")[] | null;
  key: KeyName;
  hash: "SHA-256" | "SHA-1";
  /** Changes the XML before it is signed. */
  alter?(xml: string): string;
  /** Changes it afterwards. */
  tamper?(xml: string): string;
}

/** A form that the provider has the browser post. */
interface SamlForm {
  action: string;
  SAMLResponse: string;
}

export interface SamlProvider {
  entityId: string;
  signInUrl: string;
  metadataUrl: string;
  /** The certificates in its metadata. */
  published: readonly KeyName[];
  script: SamlScript;
  readonly usual: SamlScript;
  /** How often its metadata was read. */
  readonly asked: number;
  /** Reads what the service publishes of itself. */
  meet(metadata: string): void;
  /** Logs the user in, as a browser does at the provider. */
  visit(location: string): Promise<SamlForm>;
  close(): Promise<void>;
}

const usual: SamlScript = {
  nameId: "ada-7",
  format: persistent,
  attributes: {},
  signs: null,
  key: "one",
  hash: "SHA-256",
};

/** A SAML identity provider on loopback: samlify reads requests and writes responses. */
export async function startSamlProvider(): Promise<SamlProvider> {
  let service: object | null = null;
  let asked = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", entityId);
    if (url.pathname === "/metadata") {
      asked += 1;
      response.end(identityProvider(provider.published).getMetadata());
      return;
    }
    provider.visit(url.href).then(
      ({ action, SAMLResponse }) =>
        response.setHeader("content-type", "text/html").end(
          `<!doctype html><title>Acme</title><form method="post" action="${action}">
           <input type="hidden" name="SAMLResponse" value="${SAMLResponse}"><input type="hidden" name="RelayState" value="https://evil.example">
           <button>Continue as Ada</button></form>`,
        ),
      (error) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const entityId = `http://127.0.0.1:${port}/metadata`;
  // Another site than the service's 127.0.0.1, as in the world.
  const signInUrl = `http://localhost:${port}/sign-in?tenant=acme`;

  const identityProvider = (certificates: readonly KeyName[]) =>
    IdentityProvider({
      entityID: entityId,
      privateKey: pem(`${provider.script.key}.key`),
      signingCert: certificates.map(certificateOf),
      requestSignatureAlgorithm: signatureMethod,
      nameIDFormat: [persistent],
      singleLogoutService: [{ Binding: redirectBinding, Location: new URL("/sign-out", entityId).href }],
      singleSignOnService: [{ Binding: redirectBinding, Location: signInUrl }],
      loginResponseTemplate: { context: SamlLib.defaultLoginResponseTemplate.context, attributes: [] },
    });

  const provider: SamlProvider = {
    entityId,
    signInUrl,
    metadataUrl: entityId,
    published: ["one"],
    script: usual,
    usual,
    get asked() {
      return asked;
    },
    meet(metadata) {
      service = ServiceProvider({ metadata });
    },
    async visit(location) {
      if (!service) throw new Error("the service's metadata is not known here");
      const url = new URL(location);
      if (url.searchParams.get("tenant") !== "acme") throw new Error("the sign-in URL lost its query");
      const idp = identityProvider([provider.script.key]);
      const request = await idp.parseLoginRequest(service, "redirect", { query: Object.fromEntries(url.searchParams) });
      const { id, destination, assertionConsumerServiceUrl: action } = request.extract.request;
      if (destination !== signInUrl) throw new Error(`another destination: ${destination}`);
      const { context } = await idp.createLoginResponse(service, request, "post", {}, (template) => ({
        id: "_response",
        context: fill(template, { id, action, entityId, audience: request.extract.issuer, script: provider.script }),
      }));
      const xml = await forge(Buffer.from(context, "base64").toString(), provider.script);
      return { action, SAMLResponse: Buffer.from(provider.script.tamper?.(xml) ?? xml).toString("base64") };
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return provider;
}

function fill(
  template: string,
  at: { id: string; action: string; entityId: string; audience: string; script: SamlScript },
): string {
  const later = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  const attributes = Object.entries(at.script.attributes).map(
    ([name, value]) =>
      `<saml:Attribute Name="${name}"><saml:AttributeValue>${escaped(value)}</saml:AttributeValue></saml:Attribute>`,
  );
  return SamlLib.replaceTagsByValue(template, {
    ID: "_response",
    AssertionID: "_assertion",
    Destination: at.action,
    Audience: at.audience,
    SubjectRecipient: at.action,
    Issuer: at.entityId,
    IssueInstant: later(0),
    ConditionsNotBefore: later(0),
    ConditionsNotOnOrAfter: later(5),
    SubjectConfirmationDataNotOnOrAfter: later(5),
    NameIDFormat: at.script.format,
    NameID: at.script.nameId,
    InResponseTo: at.id,
    StatusCode: "urn:oasis:names:tc:SAML:2.0:status:Success",
    AuthnStatement: "",
    AttributeStatement: "",
  }).replace(
    "</saml:Conditions>",
    `</saml:Conditions><saml:AuthnStatement AuthnInstant="${later(0)}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${attributes.join("")}</saml:AttributeStatement>`,
  );
}

/** Without a script the response stays as samlify made it. */
async function forge(xml: string, { signs, alter, key, hash }: SamlScript): Promise<string> {
  if (signs === null && !alter) return xml;
  const bare = xml.replace(/<ds:Signature[\s>].*?<\/ds:Signature>/s, "");
  let changed = alter?.(bare) ?? bare;
  for (const part of signs ?? (["Assertion"] as const)) changed = await sign(changed, part, { key, hash });
  return changed;
}

/** Signs by an implementation that shares no code with the service's. */
async function sign(
  xml: string,
  part: "Assertion" | "Response",
  { key, hash }: Pick<SamlScript, "key" | "hash">,
): Promise<string> {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash };
  const der = createPrivateKey(pem(`${key}.key`)).export({ type: "pkcs8", format: "der" });
  const privateKey = await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
  const document = Parse(xml);
  const [element] = Array.from(document.getElementsByTagNameNS("*", part));
  if (!element) throw new Error(`no ${part}`);
  const signed = new SignedXml();
  signed.XmlSignature.SignedInfo.CanonicalizationMethod.Algorithm = "http://www.w3.org/2001/10/xml-exc-c14n#";
  await signed.Sign(algorithm, privateKey, document, {
    references: [{ uri: `#${element.getAttribute("ID")}`, hash, transforms: ["enveloped", "exc-c14n"] }],
  });
  const signature = document.importNode(signed.XmlSignature.GetXml(), true);
  const issuer = Array.from(element.childNodes).find((node) => node.localName === "Issuer");
  element.insertBefore(signature, issuer?.nextSibling ?? null);
  return Stringify(document);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
