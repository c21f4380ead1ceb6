import { startSamlDashboard } from "@emend/testkit/saml-dashboard.ts";
import type { SamlScript } from "@emend/testkit/saml-provider.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

let saml: Awaited<ReturnType<typeof startSamlDashboard>>;
beforeAll(async () => {
  saml = await startSamlDashboard();
});
afterAll(() => saml.close());
beforeEach(() => saml.reset());

const other = "https://other.example";
const signed = (alter: (xml: string) => string): Partial<SamlScript> => ({ alter });
const swap = (from: string | RegExp, to: string) => signed((xml) => changed(xml, from, to));
const tamper = (from: string | RegExp, to: string): Partial<SamlScript> => ({
  tamper: (xml) => changed(xml, from, to),
});
const past = new Date(Date.now() - 120_000).toISOString();
const future = new Date(Date.now() + 120_000).toISOString();
const untimely = "has expired, or its clock differs";
const unsigned = "is not signed with a certificate";

/** A forgery that changes nothing would prove nothing. */
function changed(xml: string, from: string | RegExp, to: string): string {
  const after = xml.replaceAll(from, to);
  expect(after).not.toBe(xml);
  return after;
}

describe("is refused with a clear error, and nobody gets in", () => {
  it.each<[string, Partial<SamlScript>, string]>([
    ["a response that nobody signed", { signs: [] }, unsigned],
    ["another key", { signs: ["Assertion"], key: "two" }, unsigned],
    ["another key for the response", { signs: ["Response"], key: "two" }, unsigned],
    ["an assertion that was changed", tamper("ada@example.com", "eve@example.com"), unsigned],
    ["a response that was changed", { signs: ["Response"], ...tamper("ada@example.com", "eve@example.com") }, unsigned],
    ["SHA-1", { signs: ["Assertion"], hash: "SHA-1" }, "RSA with SHA-256"],
    ["another provider", swap(/<saml:Issuer>[^<]*</g, `<saml:Issuer>${other}<`), "comes from another provider"],
    ["another audience", swap(/<saml:Audience>[^<]*</g, `<saml:Audience>${other}<`), "for another service"],
    ["no audience", swap(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/g, ""), "for another service"],
    [
      "one audience too many",
      swap(
        "</saml:Conditions>",
        `<saml:AudienceRestriction><saml:Audience>${other}</saml:Audience></saml:AudienceRestriction></saml:Conditions>`,
      ),
      "for another service",
    ],
    ["another recipient", swap(/Recipient="[^"]*"/g, `Recipient="${other}"`), "for another URL"],
    ["no recipient", swap(/Recipient="[^"]*"/g, ""), "for another URL"],
    ["another destination", tamper(/Destination="[^"]*"/g, `Destination="${other}"`), "for another URL"],
    ["an assertion of tomorrow", swap(/NotBefore="[^"]*"/g, `NotBefore="${future}"`), untimely],
    ["conditions of yesterday", swap(/(<saml:Conditions [^>]*NotOnOrAfter=")[^"]*"/g, `$1${past}"`), untimely],
    ["a subject of yesterday", swap(/(Data NotOnOrAfter=")[^"]*"/g, `$1${past}"`), untimely],
    ["a subject without end", swap(/(Data) NotOnOrAfter="[^"]*"/g, "$1"), "not believed"],
    ["a time without a zone", swap(/NotBefore="([^"]*)Z"/g, 'NotBefore="$1"'), untimely],
    ["no conditions", swap(/<saml:Conditions.*<\/saml:Conditions>/g, ""), untimely],
    ["no request", swap(/ InResponseTo="[^"]*"/g, ""), "Logins start at Emend"],
    ["another request", swap(/InResponseTo="[^"]*"/g, 'InResponseTo="_other"'), "started in another browser"],
    ["another method", swap("cm:bearer", "cm:sender-vouches"), "not for a browser"],
    ["no login", swap(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/g, ""), "does not say that you logged in"],
    ["a transient name", { format: "urn:oasis:names:tc:SAML:2.0:nameid-format:transient" }, "not persistent"],
    ["an address as the name", { format: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress" }, "not persistent"],
    ["two names", swap(/(<saml:NameID.*<\/saml:NameID>)/g, "$1$1"), "not persistent"],
    ["a name of other letters", { nameId: "\u0430da" }, "ASCII"],
    ["no name", { nameId: "" }, "ASCII"],
    ["a long name", { nameId: "a".repeat(256) }, "ASCII"],
    ["a comment in the name", tamper(">ada-7<", ">ada<!-- -->-7<"), "not a plain SAML response"],
    ["a section in the name", tamper(">ada-7<", "><![CDATA[ada-7]]><"), "not a plain SAML response"],
    ["an instruction in the name", tamper(">ada-7<", ">ada<?x?>-7<"), "not a plain SAML response"],
    ["entities", tamper(/^/g, '<!DOCTYPE x [<!ENTITY a "ada">]>'), "not a plain SAML response"],
    ["entities of a file", tamper(/^/g, '<!DOCTYPE x SYSTEM "file:///etc/passwd">'), "not a plain SAML response"],
    ["another document", tamper(/samlp:Response/g, "samlp:LogoutResponse"), "not a plain SAML response"],
    ["half a document", { tamper: (xml) => xml.slice(0, -20) }, "not a plain SAML response"],
    ["no text", { tamper: () => "" }, "sent no SAML response"],
    [
      "an encrypted assertion",
      { tamper: (xml) => changed(xml, /<saml:Assertion.*<\/saml:Assertion>/g, "<saml:EncryptedAssertion/>") },
      "Turn encryption off",
    ],
    ["a failure", tamper("status:Success", "status:Responder"), "it has an internal error"],
    [
      "a failure without a reason that is known",
      tamper(/<samlp:StatusCode[^>]*>/g, '<samlp:StatusCode Value="Call 0800"/>'),
      "it gave no reason that is known here",
    ],
    ["no address", { attributes: {} }, "not an email address"],
    ["two addresses", swap(/(<saml:AttributeValue>ada@.*?<\/saml:AttributeValue>)/g, "$1$1"), "not an email address"],
    ["a foreign domain", { attributes: { email: "a@example.com.evil.test" } }, "not a member of this installation"],
  ])("%s", async (_what, lie, words) => {
    saml.script(lie);
    const refused = await saml.logIn();
    expect(refused.words).toContain(words);
    expect(refused.session).toBeUndefined();
    expect(await saml.members()).toEqual([]);
  });

  it("clocks that differ by half a minute are accepted", async () => {
    const soon = new Date(Date.now() + 30_000).toISOString();
    saml.script(swap(/NotBefore="[^"]*"/g, `NotBefore="${soon}"`));
    expect((await saml.logIn()).session).toBeDefined();
    const ago = new Date(Date.now() - 30_000).toISOString();
    saml.script(swap(/NotOnOrAfter="[^"]*"/g, `NotOnOrAfter="${ago}"`));
    expect((await saml.logIn()).session).toBeDefined();
  });
});

/** What was signed for Ada is moved aside, and what is in its place says Eve. */
describe("wrapped signatures", () => {
  const parts = (xml: string) => {
    const [signature = ""] = /<ds:Signature[ >].*<\/ds:Signature>/s.exec(xml) ?? [];
    const bare = xml.replace(signature, "");
    const [whole = ""] = /<saml:Assertion.*<\/saml:Assertion>/s.exec(xml) ?? [];
    const [assertion = ""] = /<saml:Assertion.*<\/saml:Assertion>/s.exec(bare) ?? [];
    return { signature, bare, whole, assertion, evil: eve(assertion) };
  };
  const eve = (xml: string) =>
    xml
      .replace(">ada-7<", ">eve-1<")
      .replaceAll("ada@", "eve@")
      .replaceAll(/ID="_(response|assertion)"/g, 'ID="_evil"');
  const inside = (signature: string, extra: string) =>
    signature.replace("</ds:Signature>", `<ds:Object>${extra}</ds:Object></ds:Signature>`);
  const afterIssuer = (xml: string, extra: string) => xml.replace("</saml:Issuer>", `</saml:Issuer>${extra}`);

  it.each<[string, "Assertion" | "Response", (xml: string) => string]>([
    [
      "1: the response in its signature",
      "Response",
      (xml) => {
        const { signature, bare } = parts(xml);
        return afterIssuer(eve(bare), inside(signature, bare));
      },
    ],
    [
      "2: the response beside its signature",
      "Response",
      (xml) => {
        const { signature, bare } = parts(xml);
        return afterIssuer(eve(bare), `${bare}${signature}`);
      },
    ],
    [
      "3: another assertion before",
      "Assertion",
      (xml) => {
        const { whole, evil } = parts(xml);
        return xml.replace(whole, `${evil}${whole}`);
      },
    ],
    [
      "4: another assertion around",
      "Assertion",
      (xml) => {
        const { whole, evil } = parts(xml);
        return xml.replace(whole, evil.replace("</saml:Assertion>", `${whole}</saml:Assertion>`));
      },
    ],
    [
      "5: the signature in another assertion",
      "Assertion",
      (xml) => {
        const { whole, assertion, evil, signature } = parts(xml);
        return xml.replace(whole, `${afterIssuer(evil, signature)}${assertion}`);
      },
    ],
    [
      "6: the assertion in the signature of another",
      "Assertion",
      (xml) => {
        const { whole, assertion, evil, signature } = parts(xml);
        return xml.replace(whole, afterIssuer(evil, inside(signature, assertion)));
      },
    ],
    [
      "7: another assertion among the extensions",
      "Assertion",
      (xml) => {
        const { evil } = parts(xml);
        return afterIssuer(xml, `<samlp:Extensions>${evil}</samlp:Extensions>`);
      },
    ],
    [
      "8: the assertion in an object of another's signature",
      "Assertion",
      (xml) => {
        const { whole, assertion, evil, signature } = parts(xml);
        return xml.replace(whole, evil.replace("</saml:Issuer>", `</saml:Issuer>${inside(signature, assertion)}`));
      },
    ],
    [
      "9: two of the same ID",
      "Assertion",
      (xml) => {
        const { whole, evil } = parts(xml);
        return xml.replace(whole, `${evil.replace("_evil", "_assertion")}${whole}`);
      },
    ],
    [
      "10: another assertion after",
      "Assertion",
      (xml) => {
        const { whole, evil } = parts(xml);
        return xml.replace(whole, `${whole}${evil}`);
      },
    ],
    [
      "11: an assertion in another namespace",
      "Assertion",
      (xml) => {
        const { whole, evil } = parts(xml);
        return xml.replace(
          whole,
          `${evil.replaceAll("saml:", "x:").replace("<x:Assertion", '<x:Assertion xmlns:x="urn:x"')}${whole}`,
        );
      },
    ],
  ])("%s", async (_what, part, wrap) => {
    saml.script({
      signs: [part],
      tamper(xml) {
        const wrapped = wrap(xml);
        expect(wrapped).toContain("eve-1");
        return wrapped;
      },
    });
    const { session, words } = await saml.logIn();
    expect(session).toBeUndefined();
    expect(words).toMatch(/^The identity provider was not believed/);
    expect(await saml.members()).toEqual([]);
  });
});
