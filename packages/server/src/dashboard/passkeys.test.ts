import { generateKeyPairSync } from "node:crypto";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { createSoftPasskey, type SoftPasskey } from "@emend/testkit/soft-passkey.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { passkeySite } from "../accounts/factors/passkeys.ts";
import { createPasswords } from "../accounts/sessions/passwords.ts";

let host: DashboardApi;
const password = "correct horse battery";
let passwordHash: string;
beforeAll(async () => {
  host = await startDashboard();
  passwordHash = await createPasswords().hash(password);
});
afterAll(() => host.close());
beforeEach(() => host.api.pool.query("truncate login_attempts, passkey_challenges"));

const usual = { origin: "https://emend.test", rpId: "emend.test" };
type Lies = Parameters<SoftPasskey["answer"]>[1];
type Member = { id: string; email: string; cookie: string };

async function addMember(): Promise<Member> {
  const member = await host.addMember("owner");
  await host.api.pool.query("update users set password_hash = $2 where id = $1", [member.id, passwordHash]);
  return member;
}

async function challengeFor(cookie: string): Promise<string> {
  return (await host.send("/factors/passkeys/begin", { cookie, body: {} })).json().challenge;
}

const register = (cookie: string, answer: object, name = "Laptop") =>
  host.send("/factors/passkeys", { cookie, body: { name, answer } });

async function addMemberWithPasskey() {
  const member = await addMember();
  const passkey = createSoftPasskey(usual);
  const answer = await register(member.cookie, passkey.register(await challengeFor(member.cookie)));
  expect(answer.statusCode).toBe(200);
  return { ...member, passkey, recoveryCodes: answer.json().recoveryCodes as string[] };
}

async function begin(token: string | null = null): Promise<string> {
  return (await host.send("/auth/passkey/begin", { cookie: null, body: { token } })).json().challenge;
}
const send = (answer: object, token: string | null = null) =>
  host.send("/auth/passkey", { cookie: null, body: { token, answer } });
const logIn = async (passkey: SoftPasskey, lies?: Lies) => send(passkey.answer(await begin(), lies));
const firstStep = async (email: string) =>
  (await host.send("/auth/login", { cookie: null, body: { email, password } })).json().secondStep;
const bare = (answer: { headers: { "set-cookie"?: string[] } }) =>
  answer.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? "";

describe("a login with a passkey", () => {
  it("needs no password, and says who the person is", async () => {
    const { id, email, passkey } = await addMemberWithPasskey();
    const answer = await logIn(passkey, { userHandle: id });
    expect([answer.statusCode, answer.json()]).toEqual([200, { secondStep: null }]);
    const session = await host.send("/session", { cookie: bare(answer) });
    expect(session.json().subject).toBe(email);
    const sessions = await host.send("/sessions", { cookie: bare(answer) });
    expect(sessions.json().sessions[0].by).toBe("passkey");
    expect((await host.send("/auth", { cookie: null })).json()).toMatchObject({ takesPasskeys: true });
  });

  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  it.each<[string, Lies]>([
    ["another origin", { origin: "https://evil.example" }],
    ["our origin by another port", { origin: "https://emend.test:8443" }],
    ["our origin without TLS", { origin: "http://emend.test" }],
    ["another domain", { rpId: "evil.example" }],
    ["a parent domain", { rpId: "test" }],
    ["no check of the person", { isVerified: false }],
    ["another key", { key: privateKey }],
    ["the wrong ceremony", { type: "webauthn.create" }],
    ["another person's name", { userHandle: "usr_other" }],
    ["an unknown id", { id: "AAAA" }],
  ])("401 in the same words for %s", async (_what, lies) => {
    const { passkey } = await addMemberWithPasskey();
    const answer = await logIn(passkey, lies);
    expect([answer.statusCode, answer.json().error]).toEqual([
      401,
      "This passkey was not accepted. Try again, or choose another way.",
    ]);
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });

  it("401 for a challenge that was used, is too old, was made up, or was made for something else", async () => {
    const { cookie, passkey } = await addMemberWithPasskey();
    const challenge = await begin();
    expect((await send(passkey.answer(challenge))).statusCode).toBe(200);
    expect((await send(passkey.answer(challenge))).statusCode).toBe(401);
    // Also one whose answer was wrong.
    const wrong = await begin();
    expect((await send(passkey.answer(wrong, { origin: "https://evil.example" }))).statusCode).toBe(401);
    expect((await send(passkey.answer(wrong))).statusCode).toBe(401);
    const old = await begin();
    await host.api.pool.query("update passkey_challenges set expires_at = clock_timestamp()");
    expect((await send(passkey.answer(old))).statusCode).toBe(401);
    expect((await send(passkey.answer("x".repeat(43)))).statusCode).toBe(401);
    const proving = (await host.send("/factors/prove/passkey/begin", { cookie, body: {} })).json().challenge;
    expect((await send(passkey.answer(proving))).statusCode).toBe(401);
  });

  it("of several that answer one challenge at once, one gets in", async () => {
    const { passkey } = await addMemberWithPasskey();
    const challenge = await begin();
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(passkey.answer(challenge))));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401, 401, 401, 401]);
  });

  it("401 for a counter that did not rise, also for two at once: somebody copied the authenticator", async () => {
    const { email, passkey } = await addMemberWithPasskey();
    expect((await logIn(passkey, { counter: 7 })).statusCode).toBe(200);
    for (const counter of [7, 6, 0]) expect((await logIn(passkey, { counter })).statusCode).toBe(401);
    const both = await Promise.all([logIn(passkey, { counter: 8 }), logIn(passkey, { counter: 8 })]);
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401]);
    const { rows } = await host.api.pool.query(
      "select count(*)::int as count from audit_log where actor = $1 and action = 'login.failed'",
      [email],
    );
    expect(rows[0].count).toBeLessThanOrEqual(1);
  });

  it("403: another site starts and sends nothing", async () => {
    const headers = { origin: "https://evil.example" };
    for (const path of ["/auth/passkey/begin", "/auth/passkey"]) {
      expect((await host.send(path, { cookie: null, body: { token: null }, headers })).statusCode).toBe(403);
    }
  });

  it("429 after a hundred open challenges of one address", async () => {
    await begin();
    await host.api.pool.query(
      `insert into passkey_challenges select decode(md5(n::text), 'hex'), purpose, user_id, address, expires_at
       from passkey_challenges, generate_series(1, 99) n`,
    );
    const answer = await host.send("/auth/passkey/begin", { cookie: null, body: { token: null } });
    expect(answer.statusCode).toBe(429);
    expect(answer.headers["retry-after"]).toBe("300");
  });
});

describe("a passkey as the second step", () => {
  it("completes the login of its own person, whose passkeys alone are asked for", async () => {
    const ada = await addMemberWithPasskey();
    const bo = await addMemberWithPasskey();
    const step = await firstStep(ada.email);
    expect(step).toMatchObject({ hasApp: false, hasPasskey: true });
    const options = await host.send("/auth/passkey/begin", { cookie: null, body: { token: step.token } });
    expect(options.json().allowCredentials.map(({ id }: { id: string }) => id)).toEqual([ada.passkey.id]);
    // Another person's, with a challenge of this login, of that person's login, and of none.
    const others = [options.json().challenge, await begin((await firstStep(bo.email)).token), await begin()];
    for (const challenge of others) {
      expect((await send(bo.passkey.answer(challenge), step.token)).statusCode).toBe(401);
    }
    const answer = await send(ada.passkey.answer(await begin(step.token)), step.token);
    expect(answer.statusCode).toBe(200);
    const sessions = await host.send("/sessions", { cookie: bare(answer) });
    expect(sessions.json().sessions[0].by).toBe("password and passkey");
    expect((await host.send("/auth/passkey/begin", { cookie: null, body: { token: step.token } })).statusCode).toBe(
      409,
    );
  });

  it("can be replaced by a recovery code", async () => {
    const { email, recoveryCodes } = await addMemberWithPasskey();
    const { token } = await firstStep(email);
    const body = { token, code: recoveryCodes[0] };
    expect((await host.send("/auth/second-step", { cookie: null, body })).statusCode).toBe(200);
  });
});

describe("the person's passkeys", () => {
  it("are listed, renamed and removed by their owner alone; each change is in the audit log and ends other sessions", async () => {
    const { id, email, cookie, passkey } = await addMemberWithPasskey();
    const stranger = await addMember();
    const rename = (who: string, name: string) =>
      host.send(`/factors/passkeys/${passkey.id}/rename`, { cookie: who, body: { name } });
    expect((await rename(stranger.cookie, "Mine")).statusCode).toBe(404);
    expect((await rename(cookie, " ")).statusCode).toBe(400);
    for (const change of ["rename", "remove"]) {
      const odd = await host.send(`/factors/passkeys/%00/${change}`, { cookie, body: { name: "Mine" } });
      expect([change, odd.statusCode]).toEqual([change, 404]);
    }
    expect((await rename(cookie, "Phone")).statusCode).toBe(200);
    const listed = (await host.send("/factors", { cookie })).json();
    expect(listed).toMatchObject({
      passkeys: [{ id: passkey.id, name: "Phone", lastUsedAt: null }],
      recoveryCodesLeft: 10,
    });
    expect((await host.send("/factors", { cookie: stranger.cookie })).json().passkeys).toEqual([]);

    const other = bare(await logIn(passkey));
    const remove = (who: string) => host.send(`/factors/passkeys/${passkey.id}/remove`, { cookie: who, body: {} });
    expect((await remove(stranger.cookie)).statusCode).toBe(404);
    expect((await host.send("/session", { cookie: other })).statusCode).toBe(200);
    expect((await remove(cookie)).statusCode).toBe(200);
    expect((await host.send("/session", { cookie: other })).statusCode).toBe(401);
    expect((await logIn(passkey)).statusCode).toBe(401);
    expect((await host.send("/factors", { cookie })).json()).toMatchObject({ passkeys: [], recoveryCodesLeft: 0 });
    const { rows } = await host.api.pool.query(
      "select action, details from audit_log where actor = $1 and target = $2 and action like 'factor.%' order by id",
      [email, id],
    );
    expect(rows.map(({ action, details }) => [action, details.name])).toEqual([
      ["factor.added", "Laptop"],
      ["factor.codes_created", undefined],
      ["factor.renamed", "Phone"],
      ["factor.removed", "Phone"],
    ]);
  });

  it("belong to one person: 409 for an id that somebody has", async () => {
    const { passkey } = await addMemberWithPasskey();
    const thief = await addMember();
    const own = createSoftPasskey(usual);
    const answer = await register(thief.cookie, own.register(await challengeFor(thief.cookie), { id: passkey.id }));
    expect(answer.statusCode).toBe(409);
    expect((await logIn(passkey)).statusCode).toBe(200);
  });

  it.each<[string, Lies]>([
    ["another origin", { origin: "https://evil.example" }],
    ["another domain", { rpId: "evil.example" }],
    ["no check of the person", { isVerified: false }],
    ["the wrong ceremony", { type: "webauthn.get" }],
  ])("are not registered for %s: 400", async (_what, lies) => {
    const { cookie } = await addMember();
    const passkey = createSoftPasskey(usual);
    expect((await register(cookie, passkey.register(await challengeFor(cookie), lies))).statusCode).toBe(400);
  });

  it("are not registered with another person's challenge, or twice with one, or in a session that is not fresh", async () => {
    const [ada, bo] = [await addMember(), await addMember()];
    const passkey = createSoftPasskey(usual);
    const challenge = await challengeFor(ada.cookie);
    expect((await register(bo.cookie, passkey.register(challenge))).statusCode).toBe(400);
    expect((await register(ada.cookie, passkey.register(challenge))).statusCode).toBe(200);
    expect((await register(ada.cookie, createSoftPasskey(usual).register(challenge))).statusCode).toBe(400);
    const { id } = ada;
    await host.api.pool.query("update sessions set proved_at = proved_at - interval '11 minutes' where user_id = $1", [
      id,
    ]);
    for (const path of ["passkeys/begin", "passkeys", `passkeys/${passkey.id}/remove`]) {
      expect((await host.send(`/factors/${path}`, { cookie: ada.cookie, body: {} })).statusCode).toBe(403);
    }
    // The passkey itself confirms the session; another person's does not.
    const prove = async (by: SoftPasskey) => {
      const begun = await host.send("/factors/prove/passkey/begin", { cookie: ada.cookie, body: {} });
      const body = { answer: by.answer(begun.json().challenge) };
      return (await host.send("/factors/prove/passkey", { cookie: ada.cookie, body })).statusCode;
    };
    expect(await prove((await addMemberWithPasskey()).passkey)).toBe(400);
    expect((await host.send("/factors", { cookie: ada.cookie })).json().isFresh).toBe(false);
    expect(await prove(passkey)).toBe(200);
    expect((await host.send("/factors", { cookie: ada.cookie })).json().isFresh).toBe(true);
  });
});

it.each([
  ["https://docs.acme.com/emend", { rpId: "docs.acme.com", origin: "https://docs.acme.com" }],
  ["https://docs.acme.com:8443", { rpId: "docs.acme.com", origin: "https://docs.acme.com:8443" }],
  ["http://localhost:3000", { rpId: "localhost", origin: "http://localhost:3000" }],
  ["http://docs.acme.com", null],
  ["https://192.0.2.7", null],
  ["https://[2001:db8::1]:8443", null],
  ["http://127.0.0.1:3000", null],
])("passkeys of %s are bound to %j", (publicUrl, site) => {
  expect(passkeySite(publicUrl)).toEqual(site);
});
