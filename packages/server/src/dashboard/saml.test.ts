import { readFileSync } from "node:fs";
import { startDashboard } from "@emend/testkit/dashboard.ts";
import { acsUrl, entityId, publicUrl, startSamlDashboard } from "@emend/testkit/saml-dashboard.ts";
import { certificateOf, type SamlScript } from "@emend/testkit/saml-provider.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { describeProvider, readProviderMetadata } from "../accounts/single-sign-on/saml-provider.ts";

let saml: Awaited<ReturnType<typeof startSamlDashboard>>;
beforeAll(async () => {
  saml = await startSamlDashboard();
});
afterAll(() => saml.close());
beforeEach(() => saml.reset());
afterEach(() => void vi.useRealTimers());

/** Moves the clock forward by this many minutes. The provider's metadata is cached for ten. */
function later(minutes: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: vi.getRealSystemTime() + minutes * 60_000 });
}

const claims = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims";
const other = "https://other.example";
const elliptic = readFileSync(new URL("../../../testkit/src/certificates/localhost.cert.pem", import.meta.url), "utf8");

describe("somebody whom the provider vouches for", () => {
  it("gets in by an allowed domain, and is the same person by another address later", async () => {
    expect((await saml.start()).whole).toMatch(/^__Host-emend-passing=[\w-]+; .*HttpOnly; SameSite=Lax$/);
    const first = await saml.logIn("/app/keys");
    expect(first).toMatchObject({ location: `${publicUrl}/app/keys`, words: null });
    const session = (await saml.host.send("/session", { cookie: first.session ?? "" })).json();
    expect(session).toMatchObject({ subject: "ada@example.com", role: "viewer", name: "Ada", hasPassword: false });
    const { rows } = await saml.host.api.pool.query("select identity from users where email = 'ada@example.com'");
    expect(rows).toEqual([{ identity: `saml:${saml.provider.entityId} ada-7` }]);
    saml.script({ attributes: { mail: "ada.new@elsewhere.test" } });
    expect((await saml.logIn()).session).toBeDefined();
    expect(await saml.members()).toEqual(["ada@example.com viewer"]);
  });

  it.each<[string, Partial<SamlScript>]>([
    ["the assertion", { signs: ["Assertion"] }],
    ["the response", { signs: ["Response"] }],
    ["both", { signs: ["Assertion", "Response"] }],
  ])("gets in where another implementation signed %s", async (_what, signed) => {
    saml.script(signed);
    expect((await saml.logIn()).session).toBeDefined();
    expect(await saml.members()).toEqual(["ada@example.com viewer"]);
  });

  it.each(["email", "mail", "urn:oid:0.9.2342.19200300.100.1.3", `${claims}/emailaddress`])(
    "has the address of the attribute %s",
    async (name) => {
      saml.script({ attributes: { [name]: "bo@example.com" } });
      expect((await saml.logIn()).session).toBeDefined();
      expect(await saml.members()).toEqual(["bo@example.com viewer"]);
    },
  );

  it("gets in by invitation, with its role, and stays out once removed", async () => {
    saml.script({ attributes: { email: "bo@elsewhere.test" } });
    expect((await saml.logIn()).words).toContain("not a member of this installation");
    await saml.host.send("/invitations", { body: { email: "bo@elsewhere.test", role: "maintainer" } });
    expect((await saml.logIn()).session).toBeDefined();
    expect(await saml.members()).toEqual(["bo@elsewhere.test maintainer"]);
    const { rows } = await saml.host.api.pool.query("select id from users where email = 'bo@elsewhere.test'");
    await saml.host.send(`/members/${rows[0].id}/remove`, { body: {} });
    saml.script({ attributes: { email: "another.address@example.com" } });
    expect((await saml.logIn()).words).toContain("were removed");
    expect(await saml.members()).toEqual([]);
  });

  it("lands on the page that the browser asked for, whatever RelayState says", async () => {
    const { location, cookie } = await saml.start("https://evil.example");
    const { SAMLResponse } = await saml.provider.visit(location);
    const posted = await saml.post(SAMLResponse, { RelayState: "https://evil.example" });
    expect(posted.location).toMatch(
      /^https:\/\/emend\.test\/base\/dashboard\/api\/auth\/single-sign-on\/return\?arrival=/,
    );
    expect(await saml.arrive(posted.location, cookie)).toMatchObject({ location: `${publicUrl}/app` });
  });
});

describe("a response counts once, in the browser that left", () => {
  it("is refused in another browser, without a cookie, and too late", async () => {
    const mine = await saml.start();
    const theirs = await saml.start();
    const { SAMLResponse } = await saml.provider.visit(mine.location);
    const { location } = await saml.post(SAMLResponse);
    for (const cookie of [theirs.cookie, null, `${mine.cookie.slice(0, -8)}AAAAAAAA`]) {
      const { words, session } = await saml.arrive(location, cookie);
      expect([words, session]).toEqual([expect.stringContaining("started in another browser"), undefined]);
    }
    later(11);
    expect((await saml.arrive(location, mine.cookie)).words).toContain("has expired");
    expect(await saml.members()).toEqual([]);
  });

  it("is refused the second time, on another node too", async () => {
    const { location, cookie } = await saml.start();
    const { SAMLResponse } = await saml.provider.visit(location);
    const posted = await saml.post(SAMLResponse);
    const again = await saml.post(SAMLResponse);
    expect((await saml.arrive(posted.location, cookie)).session).toBeDefined();
    for (const each of [posted, again]) {
      expect((await saml.arrive(each.location, cookie)).words).toContain("already used");
    }
    const node = saml.node();
    const arrival = new URL(again.location).searchParams.get("arrival");
    const sealed = cookie.slice(cookie.indexOf("=") + 1);
    await expect(node.finish({ sealed, query: { arrival }, redirectUrl: "" })).rejects.toMatchObject({
      publicMessage: expect.stringContaining("already used"),
    });
  });

  it("is used by one of two nodes that get it at once", async () => {
    const { location, cookie } = await saml.start();
    const { SAMLResponse } = await saml.provider.visit(location);
    const arrival = new URL((await saml.post(SAMLResponse)).location).searchParams.get("arrival");
    const sealed = cookie.slice(cookie.indexOf("=") + 1);
    const input = { sealed, query: { arrival }, redirectUrl: "" };
    const outcomes = await Promise.allSettled([saml.node().finish(input), saml.node().finish(input)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  it("is encrypted for this purpose: the browser's own cookie is none", async () => {
    const { cookie } = await saml.start();
    const location = `${publicUrl}/x?arrival=${cookie.slice(cookie.indexOf("=") + 1)}`;
    expect((await saml.arrive(location, cookie)).words).toContain("started in another browser");
  });
});

describe("the form", () => {
  it.each([[""], ["not base64 \u0000"], ["/////w=="]])("without a response: %j", async (posted) => {
    expect(await saml.wordsOf((await saml.post(posted)).location)).toMatch(/not believed|sent no SAML response/);
  });

  it("may have 256 KiB", async () => {
    expect(await saml.wordsOf((await saml.post("A".repeat(250 * 1024))).location)).toContain(
      "not a plain SAML response",
    );
    const { answer, location } = await saml.post("A".repeat(257 * 1024));
    expect(answer.status).toBe(303);
    expect(await saml.wordsOf(location)).toContain("larger than 256 KiB");
  });

  it("must be a form", async () => {
    const answer = await saml.host.api.send("/dashboard/api/auth/saml/acs", {
      method: "POST",
      body: { SAMLResponse: "x" },
    });
    expect(answer.status).toBe(415);
  });

  it.each([
    ["levels", `${"<x>".repeat(600)}${"</x>".repeat(600)}`],
    ["elements", "<x/>".repeat(600)],
    ["attributes", `<x ${Array.from({ length: 600 }, (_, at) => `a${at}="1"`).join(" ")}/>`],
  ])("may not have hundreds of %s: verifying would take seconds", async (_what, extra) => {
    saml.script({ tamper: (xml) => xml.replace("</saml:Issuer>", `</saml:Issuer>${extra}`) });
    expect((await saml.logIn()).words).toContain("Have it send fewer attributes and groups");
  });

  it("may have the groups of the person", async () => {
    const groups = Array.from({ length: 100 }, (_, at) => [`group ${at}`, "docs"]);
    saml.script({ attributes: { ...saml.provider.script.attributes, ...Object.fromEntries(groups) } });
    expect((await saml.logIn()).session).toBeDefined();
  });
});

describe("the provider's metadata", () => {
  it("has keys for encryption, too, which sign nothing", () => {
    const key = (use: string, name: "one" | "two") =>
      `<KeyDescriptor${use}><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${certificateOf(name).replace(/-----.*-----/g, "")}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`;
    const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="x"><IDPSSODescriptor>
      ${key("", "one")}${key(' use="encryption"', "two")}
      <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${other}/sso"/>
      </IDPSSODescriptor></EntityDescriptor>`;
    expect(readProviderMetadata(metadata)).toEqual({
      entityId: "x",
      signInUrl: `${other}/sso`,
      certificates: [certificateOf("one")],
    });
  });

  it("may name two certificates while it changes keys, and the removed one ends", async () => {
    later(20);
    saml.provider.published = ["one", "two"];
    for (const key of ["one", "two"] as const) {
      saml.script({ key, signs: ["Assertion"] });
      expect((await saml.logIn()).session).toBeDefined();
    }
    later(40);
    saml.provider.published = ["two"];
    saml.script({ key: "two" });
    expect((await saml.logIn()).session).toBeDefined();
    saml.script({ key: "one" });
    expect((await saml.logIn()).words).toContain("is not signed with a certificate");
  });

  it("is read once in ten minutes", async () => {
    later(60);
    await saml.logIn();
    const { asked } = saml.provider;
    await saml.logIn();
    expect(saml.provider.asked).toBe(asked);
  });

  it.each([
    ["no document", "<html></html>", "not a SAML metadata document"],
    [
      "no provider",
      '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="x"/>',
      "does not describe",
    ],
    [
      "entities",
      '<!DOCTYPE x [<!ENTITY a "b">]><EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"/>',
      "not a SAML metadata document",
    ],
  ])("is refused: %s", (_what, xml, problem) => {
    expect(readProviderMetadata(xml)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it.each([
    ["a sign-in URL over http", { signInUrl: "http://id.example.com/sso" }, "https sign-in URL"],
    ["a sign-in URL that is a script", { signInUrl: "javascript:alert(1)" }, "https sign-in URL"],
    ["no certificate", { certificates: "" }, "signing certificates"],
    [
      "a certificate that is none",
      { certificates: "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----" },
      "signing certificates",
    ],
    [
      "one that is none beside a good one",
      { certificates: `${certificateOf("one")}-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----` },
      "signing certificates",
    ],
    ["a key that is not RSA", { certificates: elliptic }, "signing certificates"],
    ["a short key", { certificates: certificateOf("short") }, "signing certificates"],
    ["an entity ID with blanks", { entityId: "a b" }, "entity ID"],
  ])("is refused: %s", (_what, wrong, problem) => {
    const good = { entityId: other, signInUrl: `${other}/sso`, certificates: certificateOf("one") };
    expect(describeProvider(good)).toMatchObject({
      entityId: other,
      certificates: [expect.stringMatching(/^-----BEGIN/)],
    });
    expect(describeProvider({ ...good, ...wrong })).toEqual({ problem: expect.stringContaining(problem) });
  });
});

it("the service's metadata asks for signed assertions, by POST, with persistent names", async () => {
  const { headers, body } = await saml.host.send("/auth/saml/metadata", { cookie: null });
  expect(headers["content-type"]).toBe("application/samlmetadata+xml");
  for (const part of [
    `entityID="${entityId}"`,
    `Location="${acsUrl}"`,
    'WantAssertionsSigned="true"',
    "bindings:HTTP-POST",
    "nameid-format:persistent",
  ])
    expect(body).toContain(part);
});

it("owners see the provider's settings, and what to enter there", async () => {
  expect((await saml.host.send("/settings")).json().singleSignOn).toEqual({
    protocol: "saml",
    name: "Example ID",
    provider: saml.provider.metadataUrl,
    entityId,
    acsUrl,
    domains: ["example.com"],
    defaultRole: "viewer",
  });
});

it("has no routes for SAML unless it is configured", async () => {
  const without = await startDashboard();
  for (const path of ["/auth/saml/metadata", "/auth/saml/acs"]) expect((await without.send(path)).statusCode).toBe(404);
  await without.close();
});
