import { createFetch } from "@emend/base/network.ts";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import {
  clientId,
  clientSecret,
  type IdentityProvider,
  type Script,
  startIdentityProvider,
} from "@emend/testkit/identity-provider.ts";
import { SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createSealer } from "../accounts/secrets.ts";
import { createSingleSignOn } from "../accounts/single-sign-on/single-sign-on.ts";

let provider: IdentityProvider;
let host: DashboardApi;
const network = createFetch({});
beforeAll(async () => {
  provider = await startIdentityProvider();
  const singleSignOn = createSingleSignOn(
    { fetch: network.fetch, sealer: createSealer("a secret of the tests, and of nothing else") },
    {
      issuer: provider.issuer,
      clientId,
      clientSecret,
      name: "Example ID",
      domains: ["example.com"],
      defaultRole: "viewer",
    },
  );
  host = await startDashboard({ singleSignOn });
});
afterAll(async () => {
  await host.close();
  await network.close();
  await provider.close();
});
beforeEach(async () => {
  for (const table of ["users", "login_links", "audit_log", "removed_members"])
    await host.api.pool.query(`delete from ${table}`);
  await host.api.pool.query("insert into users values ('usr_owner', 'owner@emend.test', 'Owner', 'owner', null)");
  script({});
});

afterEach(() => void vi.useRealTimers());

/** Moves the clock forward by this many minutes. The provider's metadata is cached for ten. */
function later(minutes: number): void {
  const nowMs = vi.getRealSystemTime() + minutes * 60_000;
  vi.useFakeTimers({ toFake: ["Date"], now: nowMs });
}

function script(more: Partial<Script>): void {
  const claims = { email: "ada@example.com", email_verified: true, name: "Ada" };
  provider.script = { subject: "ada", claims, ...more };
}

const start = async (to = "") => {
  const left = await host.send(`/auth/single-sign-on?to=${to}`, { cookie: null });
  const [cookie = ""] = [left.headers["set-cookie"] ?? []].flat();
  return { left, cookie: cookie.split(";", 1)[0] ?? "", whole: cookie };
};

async function comeBack(back: URL, cookie: string | null) {
  const answer = await host.send(`/auth/single-sign-on/return${back.search}`, { cookie });
  const location = String(answer.headers.location);
  const problem = new URL(location).searchParams.get("problem");
  const words = problem && (await host.send(`/auth?problem=${problem}`, { cookie: null })).json().problem;
  const cookies = [answer.headers["set-cookie"] ?? []].flat().map((each) => each.split(";", 1)[0] ?? "");
  const session = cookies.find((each) => each.startsWith("__Host-emend="));
  return { answer, location, words, session };
}

async function logIn() {
  const { left, cookie } = await start();
  return comeBack(provider.visit(String(left.headers.location)), cookie);
}

const members = async () =>
  (
    await host.api.pool.query<{ line: string }>(
      "select email || ' ' || role as line from users where id <> 'usr_owner' order by 1",
    )
  ).rows.map(({ line }) => line);

describe("somebody whom the provider vouches for", () => {
  it("gets in by an allowed domain, once made a member, and is the same person by another address later", async () => {
    expect((await host.send("/auth", { cookie: null })).json()).toMatchObject({ singleSignOn: { name: "Example ID" } });
    const { whole } = await start();
    expect(whole).toMatch(/^__Host-emend-passing=[\w-]+; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
    const first = await logIn();
    expect(first.location).toBe("https://emend.test/base/app");
    const session = (await host.send("/session", { cookie: first.session ?? "" })).json();
    expect(session).toMatchObject({ subject: "ada@example.com", role: "viewer", name: "Ada", hasPassword: false });
    const { sessions } = (await host.send("/sessions", { cookie: first.session ?? "" })).json();
    expect(sessions).toMatchObject([{ by: "single sign-on", address: "127.0.0.1", isThis: true }]);
    script({ claims: { email: "ada.new@elsewhere.test", email_verified: true } });
    expect((await logIn()).session).toBeDefined();
    expect(await members()).toEqual(["ada@example.com viewer"]);
  });

  it("is the member of the same, verified address", async () => {
    await host.api.pool.query("insert into users values ('usr_a', 'ADA@example.com', 'Ada', 'owner', null)");
    const { session } = await logIn();
    expect((await host.send("/session", { cookie: session ?? "" })).json()).toMatchObject({ role: "owner" });
    script({ subject: "is not valid" });
    expect((await logIn()).words).toContain("another account");
  });

  it("gets in by invitation, with its role, which is spent", async () => {
    script({ claims: { email: "bo@elsewhere.test", email_verified: true } });
    expect((await logIn()).words).toContain("not a member of this installation");
    await host.send("/invitations", { body: { email: "bo@elsewhere.test", role: "maintainer" } });
    expect((await logIn()).session).toBeDefined();
    expect(await members()).toEqual(["bo@elsewhere.test maintainer"]);
    expect((await host.send("/members")).json().invitations).toEqual([]);
  });

  it("can come from the provider's user info, if its subject matches", async () => {
    script({ claims: {}, userInfo: { email: "ada@example.com", email_verified: true } });
    expect((await logIn()).session).toBeDefined();
    script({ claims: {}, userInfo: { sub: "other", email: "ada@example.com", email_verified: true } });
    expect((await logIn()).words).toContain("another person");
  });

  it("redirects to the requested page, never to another site", async () => {
    for (const [to, landsOn] of [
      ["/app/keys", "/app/keys"],
      ["https://evil.example", "/app"],
      ["//evil.example", "/app"],
      ["/app/../../x", "/app"],
      ["/app/%2e%2e/login/x", "/app"],
    ]) {
      const { left, cookie } = await start(encodeURIComponent(to ?? ""));
      const { location } = await comeBack(provider.visit(String(left.headers.location)), cookie);
      expect(location).toBe(`https://emend.test/base${landsOn}`);
    }
  });
});

describe("somebody who was removed", () => {
  const idOf = async (email: string) =>
    (await host.api.pool.query<{ id: string }>("select id from users where email = $1", [email])).rows[0]?.id;
  const remove = async (email: string) =>
    expect((await host.send(`/members/${await idOf(email)}/remove`, { body: {} })).statusCode).toBe(200);

  it("is not let back in by the domain, whichever the address or the account, until invited again", async () => {
    await logIn();
    await remove("ada@example.com");
    const refused = async () => {
      const { session, words } = await logIn();
      expect([session, words]).toEqual([undefined, expect.stringContaining("were removed")]);
    };
    await refused();
    script({ claims: { email: "ada.lovelace@example.com", email_verified: true } });
    await refused();
    script({ subject: "another account of hers" });
    await refused();
    expect(await members()).toEqual([]);

    script({});
    await host.send("/invitations", { body: { email: "ada@example.com", role: "maintainer" } });
    const [{ id }] = (await host.send("/members")).json().invitations;
    await host.send(`/invitations/${id}/revoke`, { body: {} });
    await refused();
    await host.send("/invitations", { body: { email: "ada@example.com", role: "maintainer" } });
    expect((await logIn()).session).toBeDefined();
    expect(await members()).toEqual(["ada@example.com maintainer"]);
  });

  it("is not let back in by an invitation from before", async () => {
    await host.send("/invitations", { body: { email: "bo@elsewhere.test", role: "owner" } });
    await host.api.pool.query("insert into users values ('usr_bo', 'bo@elsewhere.test', 'Bo', 'viewer', null)");
    await remove("bo@elsewhere.test");
    script({ subject: "bo", claims: { email: "bo@elsewhere.test", email_verified: true } });
    expect((await logIn()).session).toBeUndefined();
    expect(await members()).toEqual([]);
  });

  it("gets no session, and no fault, while being removed", async () => {
    await logIn();
    const removing = await host.api.pool.connect();
    await removing.query("begin");
    await removing.query("delete from users where email = 'ada@example.com'");
    const coming = logIn();
    await expect.poll(() => waitingForALock()).toBe(1);
    await removing.query("commit");
    removing.release();
    const { session, words } = await coming;
    expect([session, words]).toEqual([undefined, expect.stringContaining("were removed")]);
  });
});

const waitingForALock = async () =>
  (
    await host.api.pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).rowCount;

describe("what a hostile provider says of somebody", () => {
  const name = async () =>
    (await host.api.pool.query("select name from users where email = 'ada@example.com'")).rows[0]?.name;

  it.each([
    ["U+0000 and controls", "A\0d\u001b[31ma\u0007", "Ad[31ma"],
    ["what turns text around", "Ada \u202egnp.exe\u2066", "Ada gnp.exe"],
    ["half a character", "Ada \ud83d", "Ada \ufffd"],
    ["lines", "Ada\r\nLovelace\u2028x", "Ada Lovelacex"],
    ["nothing to see", "\u200b\u0000 ", "ada@example.com"],
    ["too many characters", "\u{1f600}".repeat(300), "\u{1f600}".repeat(200)],
    ["no text", { toString: "x" }, "ada@example.com"],
  ])("is cleaned: a name of %s", async (_what, given, kept) => {
    script({ claims: { email: "ada@example.com", email_verified: true, name: given } });
    expect((await logIn()).session).toBeDefined();
    expect(await name()).toBe(kept);
  });

  it.each([
    ["U+0000", "a\0b"],
    ["a control", "a\nb"],
    ["a letter that looks like another", "\u0430da"],
    ["too many characters", "a".repeat(256)],
    ["none", ""],
    ["a number", 7],
    ["a list", ["ada"]],
  ])("is refused: a subject of %s", async (_what, sub) => {
    script({ alter: (claims) => ({ ...claims, sub: sub as string }) });
    const { answer, session, words } = await logIn();
    expect([answer.statusCode, session]).toEqual([303, undefined]);
    expect(words).toContain("The identity provider was not believed");
    expect(await members()).toEqual([]);
  });

  it.each([["a\0@example.com"], ["a\u202e@example.com"], [`${"a".repeat(250)}@example.com`], ["a@b@example.com"], [7]])(
    "is refused: the address %j",
    async (email) => {
      script({ claims: { email, email_verified: true } });
      const { answer, session, words } = await logIn();
      expect([answer.statusCode, session]).toEqual([303, undefined]);
      expect(words).toMatch(/not an email address/);
    },
  );

  it("is not repeated: neither a reason of its own nor the address", async () => {
    const { left, cookie } = await start();
    const state = new URL(String(left.headers.location)).searchParams.get("state");
    const words = "Call 0800 to unlock your account";
    for (const error of [words, "__proto__", "constructor"]) {
      const back = new URL(`https://x.test/?state=${state}`);
      back.searchParams.set("error", error);
      back.searchParams.set("error_description", words);
      expect((await comeBack(back, cookie)).words).toBe(
        "The identity provider did not log you in: it gave no reason that is known here.",
      );
    }
    script({ claims: { email: "call-0800-to-unlock@evil.test", email_verified: true } });
    expect((await logIn()).words).not.toContain("0800");
  });
});

const byClientSecret: Script["sign"] = (claims) =>
  new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(clientSecret));
const bySilence: Script["sign"] = async (claims) =>
  `${[{ alg: "none" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`;

describe("is refused with a clear error, and no session is opened", () => {
  it.each<[string, Partial<Script>, string]>([
    ["a token signed by another key", { isForged: true }, "is not valid"],
    ["a token signed by the client's secret", { sign: byClientSecret }, "is not valid"],
    ["a token that nobody signed", { sign: bySilence }, "is not valid"],
    ["an answer without end", { claims: {}, userInfo: { padding: "x".repeat(2 ** 20) } }, "Can't reach"],
    ["issuer differs", { alter: (claims) => ({ ...claims, iss: "https://evil.example" }) }, "is not valid"],
    ["another client", { alter: (claims) => ({ ...claims, aud: "other" }) }, "is not valid"],
    ["one of several clients", { alter: (claims) => ({ ...claims, aud: [clientId, "other"] }) }, "is not valid"],
    ["an expired token", { alter: (claims) => ({ ...claims, exp: 1000, iat: 900 }) }, "is not valid"],
    ["another login's nonce", { alter: (claims) => ({ ...claims, nonce: "other" }) }, "is not valid"],
    ["no nonce", { alter: ({ nonce: _, ...claims }) => claims }, "is not valid"],
    ["an address that is not verified", { claims: { email: "ada@example.com" } }, "not verified"],
    ["no address", { claims: {} }, "not an email address"],
    [
      "a foreign domain",
      { claims: { email: "a@example.com.evil.test", email_verified: true } },
      "not a member of this installation",
    ],
  ])("%s", async (_what, lie, words) => {
    script(lie);
    const { session, words: told } = await logIn();
    expect(told).toContain(words);
    expect(session).toBeUndefined();
    expect(await members()).toEqual([]);
  });

  it("somebody new, while there is no owner", async () => {
    await host.send("/invitations", { body: { email: "bo@elsewhere.test", role: "maintainer" } });
    await host.api.pool.query("delete from users");
    for (const email of ["ada@example.com", "bo@elsewhere.test"]) {
      script({ subject: email, claims: { email, email_verified: true } });
      const { session, words } = await logIn();
      expect(words).toContain("has no owner yet");
      expect(session).toBeUndefined();
    }
    expect(await members()).toEqual([]);
    expect((await host.send("/members")).json().invitations).toHaveLength(1);
  });

  it("an address that the database alone folds into a member's", async () => {
    await host.api.pool.query("insert into users values ('usr_v', 'victim@corp.test', 'V', 'owner', null)");
    script({ subject: "mallory", claims: { email: "v\u0130ctim@corp.test", email_verified: true } });
    const { session, words } = await logIn();
    expect(words).toContain("Only ASCII");
    expect(session).toBeUndefined();
    const { rows } = await host.api.pool.query("select identity from users where id = 'usr_v'");
    expect(rows).toEqual([{ identity: null }]);
  });

  it("a state that is another's, a browser that never left, and one that comes back too late", async () => {
    const { left, cookie } = await start();
    const other = await start();
    const back = provider.visit(String(left.headers.location));
    expect((await comeBack(back, other.cookie)).words).toContain("started in another browser");
    expect((await comeBack(back, null)).words).toContain("started in another browser");
    expect((await comeBack(back, `${cookie}x`)).words).toContain("started in another browser");
    later(11);
    expect((await comeBack(back, cookie)).words).toContain("has expired");
  });

  it("a code that was redeemed before, and a login that the person broke off", async () => {
    const { left, cookie } = await start();
    const back = provider.visit(String(left.headers.location));
    expect((await comeBack(back, cookie)).session).toBeDefined();
    expect((await comeBack(back, cookie)).words).toContain("already used or has expired");
    const again = await start();
    const denied = new URL(String(again.left.headers.location));
    const away = new URL(`https://x.test/?error=access_denied&state=${denied.searchParams.get("state")}`);
    expect((await comeBack(away, again.cookie)).words).toContain("access was denied");
  });

  it("a provider that calls itself otherwise, or sends people to another place without https", async () => {
    later(20);
    script({ discovery: { issuer: "https://evil.example" } });
    expect(String((await start()).left.headers.location)).toContain("/app/login?problem=");
    script({ discovery: { issuer: `${provider.issuer}/` } });
    expect(String((await start()).left.headers.location)).toContain("/app/login?problem=");
    script({ discovery: { authorization_endpoint: "ftp://evil.example" } });
    expect(String((await start()).left.headers.location)).toContain("/app/login?problem=");
  });
});

it("asks for new keys when the provider signs with one that is not known, and not for each forgery", async () => {
  later(40);
  expect((await logIn()).session).toBeDefined();
  const before = provider.asked["/keys"] ?? 0;
  await provider.rotateKey();
  later(42);
  expect((await logIn()).session).toBeDefined();
  expect(provider.asked["/keys"]).toBe(before + 1);
  script({ isForged: true });
  expect((await logIn()).session).toBeUndefined();
  expect(provider.asked["/keys"]).toBe(before + 1);
});

it("proves itself by Basic, which all providers take, and in the form where they take that", async () => {
  later(60);
  expect((await logIn()).session).toBeDefined();
  expect(provider.clientProvedBy).toBe("client_secret_basic");
  later(80);
  script({ discovery: { token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"] } });
  expect((await logIn()).session).toBeDefined();
  expect(provider.clientProvedBy).toBe("client_secret_post");
});

it("the login page shows only the server's own texts", async () => {
  expect((await host.send("/auth?problem=Call%20this%20number", { cookie: null })).json().problem).toBeNull();
});
