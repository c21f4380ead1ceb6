import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { listRoutes, pathOf } from "@emend/testkit/list-routes.ts";
import { createSoftPasskey } from "@emend/testkit/soft-passkey.ts";
import { totpCode } from "@emend/testkit/totp-code.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { resetFactors } from "../accounts/factors/reset-factors.ts";
import { createResetLink } from "../accounts/people/login-links.ts";
import { inviteMember } from "../accounts/people/members.ts";
import { createPasswords } from "../accounts/sessions/passwords.ts";
import { openSession } from "../accounts/sessions/session-store.ts";
import { createSessions } from "../accounts/sessions/sessions.ts";
import { consoleActor } from "../db/transaction.ts";

let host: DashboardApi;
const publicUrl = "https://emend.test/base";
const password = "correct horse battery";
let passwordHash: string;
beforeAll(async () => {
  host = await startDashboard();
  passwordHash = await createPasswords().hash(password);
});
afterAll(() => host.close());
beforeEach(async () => {
  await host.api.pool.query("truncate login_attempts, passkey_challenges");
  await host.api.pool.query("delete from settings");
});

interface Member {
  id: string;
  email: string;
  cookie: string;
}

const bare = (answer: { headers: { "set-cookie"?: string[] } }) =>
  answer.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? "";
const statusAs = async (cookie: string) => (await host.send("/session", { cookie })).statusCode;
/** As the console, unless there is a cookie. */
const require = (secondFactorRequired: boolean, cookie?: string) =>
  host.send("/settings", { method: "PATCH", body: { secondFactorRequired }, ...(cookie !== undefined && { cookie }) });

async function addMember(role: "owner" | "viewer" = "owner"): Promise<Member> {
  const member = await host.addMember(role);
  await host.api.pool.query("update users set password_hash = $2 where id = $1", [member.id, passwordHash]);
  return member;
}

async function addMemberWithApp(): Promise<Member & { key: string }> {
  const member = await addMember();
  const { cookie } = member;
  const { key, setup } = (await host.send("/factors/authenticator-app/begin", { cookie, body: {} })).json();
  const body = { setup, code: totpCode(key) };
  expect((await host.send("/factors/authenticator-app/confirm", { cookie, body })).statusCode).toBe(200);
  return { ...member, key };
}

/** The cookie of a session that the identity provider opened. */
async function byProvider({ id }: Member): Promise<string> {
  const { pool } = host.api;
  const token = await openSession(pool, { userId: id, how: "single sign-on", address: null, replaces: null });
  return createSessions({ pool, publicUrl: () => publicUrl })
    .cookieOf(token)
    .split(";", 1)[0] as string;
}

const logIn = (email: string) => host.send("/auth/login", { cookie: null, body: { email, password } });
const tokenOf = async (email: string): Promise<string> => (await logIn(email)).json().secondStep.token;
const post = (path: string, body: object) => host.send(`/auth${path}`, { cookie: null, body });

async function beginApp(token: string) {
  const { key, setup } = (await post("/set-up/authenticator-app/begin", { token })).json();
  const finish = () => post("/set-up/authenticator-app", { token, setup, code: totpCode(key) });
  return { key: key as string, finish };
}

async function setUpApp(token: string) {
  const { key, finish } = await beginApp(token);
  return { key, answer: await finish() };
}

async function actionsOf(actor: string) {
  const { rows } = await host.api.pool.query(
    "select action, target, details from audit_log where actor = $1 order by id",
    [actor],
  );
  return rows as { action: string; target: string | null; details: Record<string, unknown> }[];
}

describe("a login where a second factor is required", () => {
  it("opens no session before one is set up, and then asks for it", async () => {
    const { email, cookie } = await addMember();
    await require(true);
    const first = await logIn(email);
    expect([first.statusCode, first.headers["set-cookie"]]).toEqual([200, undefined]);
    expect(first.json().secondStep).toMatchObject({
      hasApp: false,
      hasPasskey: false,
      setUp: { allowsPasskeys: true },
    });
    const { token } = first.json().secondStep;
    const { key, answer } = await setUpApp(token);
    expect(answer.json().recoveryCodes).toHaveLength(10);
    const sessions = (await host.send("/sessions", { cookie: bare(answer) })).json().sessions;
    expect(sessions).toMatchObject([{ by: "password and authenticator app", isThis: true }]);
    expect((await actionsOf(email)).map(({ action }) => action).slice(-3)).toEqual([
      "factor.added",
      "factor.codes_created",
      "login",
    ]);
    // Not even a session from before, which the setting had ended.
    expect(await statusAs(cookie)).toBe(401);
    // From now on, a code.
    const second = (await logIn(email)).json().secondStep;
    expect(second).toMatchObject({ hasApp: true, setUp: null });
    const finished = await post("/second-step", { token: second.token, code: totpCode(key, 1) });
    expect(await statusAs(bare(finished))).toBe(200);
  });

  it("sets up a passkey, too", async () => {
    const { email } = await addMember();
    await require(true);
    const token = await tokenOf(email);
    const passkey = createSoftPasskey({ origin: "https://emend.test", rpId: "emend.test" });
    const { challenge } = (await post("/set-up/passkey/begin", { token })).json();
    const registered = passkey.register(challenge);
    expect((await post("/set-up/passkey", { token, name: " ", answer: registered })).statusCode).toBe(400);
    const again = (await post("/set-up/passkey/begin", { token })).json().challenge;
    const answer = await post("/set-up/passkey", { token, name: "Laptop", answer: passkey.register(again) });
    expect([answer.statusCode, answer.json().recoveryCodes.length]).toEqual([200, 10]);
    const { sessions } = (await host.send("/sessions", { cookie: bare(answer) })).json();
    expect(sessions[0].by).toBe("password and passkey");
    // Alone, it is both factors.
    const alone = (await post("/passkey/begin", { token: null })).json().challenge;
    const login = await post("/passkey", { token: null, answer: passkey.answer(alone) });
    expect(await statusAs(bare(login))).toBe(200);
  });

  it("opens no other route, and no link", async () => {
    const { email } = await addMember();
    await require(true);
    const token = await tokenOf(email);
    const letIn: string[] = [];
    const shared = listRoutes(host).filter(({ url }) => !/^\/auth/.test(url));
    for (const route of shared) {
      const body = route.method === "GET" ? {} : { body: {} };
      const headers = { authorization: `Bearer ${token}` };
      const cookie = `__Host-emend=${token}`;
      const answer = await host.send(pathOf(route), { method: route.method as "GET", cookie, headers, ...body });
      if (answer.statusCode !== 401) letIn.push(`${route.method} ${route.url}: ${answer.statusCode}`);
    }
    expect(letIn).toEqual([]);
    expect((await host.api.send(`/login/${token}`)).status).toBe(410);
    expect((await post("/second-step", { token, code: "000000" })).statusCode).toBe(401);
  });

  it("409: who has a factor adds none with the password alone", async () => {
    const { email } = await addMemberWithApp();
    await require(true);
    const token = await tokenOf(email);
    const setup = "x";
    for (const [path, body] of [
      ["/set-up/authenticator-app/begin", { token }],
      ["/set-up/authenticator-app", { token, setup, code: "000000" }],
      ["/set-up/passkey/begin", { token }],
    ] as const) {
      const answer = await post(path, body);
      expect([path, answer.statusCode, answer.json().error]).toEqual([
        path,
        409,
        "This login has expired. Start again with your password.",
      ]);
    }
  });

  it("409 after ten minutes, for an unknown token, and for the second of two that set up at once", async () => {
    const { id, email } = await addMember();
    await require(true);
    const apps = [await beginApp(await tokenOf(email)), await beginApp(await tokenOf(email))];
    const answers = await Promise.all(apps.map(({ finish }) => finish()));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    await resetFactors(host.api.pool, email);
    const token = await tokenOf(email);
    await host.api.pool.query("update pending_logins set expires_at = clock_timestamp() where user_id = $1", [id]);
    expect((await post("/set-up/authenticator-app/begin", { token })).statusCode).toBe(409);
    expect((await post("/set-up/passkey/begin", { token: "x".repeat(43) })).statusCode).toBe(409);
  });

  it("400 for a wrong code and for a set-up of another person; the login goes on", async () => {
    const [ada, bo] = [await addMember(), await addMember()];
    await require(true);
    const [adas, bos] = [await tokenOf(ada.email), await tokenOf(bo.email)];
    const { key, setup } = (await post("/set-up/authenticator-app/begin", { token: adas })).json();
    const wrong = await post("/set-up/authenticator-app", { token: adas, setup, code: "000000" });
    expect([wrong.statusCode, wrong.headers["set-cookie"]]).toEqual([400, undefined]);
    const foreign = await post("/set-up/authenticator-app", { token: bos, setup, code: totpCode(key) });
    expect([foreign.statusCode, foreign.json().error]).toEqual([400, "This set-up has expired. Start it again."]);
    expect((await setUpApp(adas)).answer.statusCode).toBe(200);
  });

  it("asks whoever joins by an invitation, or comes by a reset link", async () => {
    await require(true);
    const { pool } = host.api;
    const accept = (link: string) =>
      post("/accept", { token: link.slice(link.lastIndexOf("/") + 1), name: "Cy", password: "another long password" });
    const invitation = { email: `cy-${Date.now()}@emend.test`, role: "viewer" } as const;
    const { link } = await inviteMember({ pool, publicUrl }, invitation, consoleActor);
    for (const opened of [link, await createResetLink({ pool, publicUrl }, (await addMember()).email)]) {
      const answer = await accept(opened);
      expect([answer.statusCode, answer.headers["set-cookie"]]).toEqual([201, undefined]);
      const { answer: done } = await setUpApp(answer.json().secondStep.token);
      expect((await host.send("/sessions", { cookie: bare(done) })).json().sessions[0].by).toBe(
        "link and authenticator app",
      );
    }
  });
});

describe("requiring a second factor", () => {
  it("ends the sessions of people without one at once, and no others", async () => {
    const [without, withApp, sso] = [await addMember("viewer"), await addMemberWithApp(), await addMember("viewer")];
    const provided = await byProvider(sso);
    const all = async () =>
      Promise.all([without.cookie, sso.cookie, withApp.cookie, provided, await host.logIn()].map(statusAs));
    expect(await all()).toEqual([200, 200, 200, 200, 200]);
    expect((await require(true, withApp.cookie)).statusCode).toBe(200);
    expect(await all()).toEqual([401, 401, 200, 200, 200]);
    // One that opens while the setting is turned on.
    const late = await openSession(host.api.pool, {
      userId: without.id,
      how: "password",
      address: null,
      replaces: null,
    });
    const cookie = createSessions({ pool: host.api.pool, publicUrl: () => publicUrl }).cookieOf(late);
    expect(await statusAs(cookie.split(";", 1)[0] ?? "")).toBe(401);
    // They do not come back with the setting.
    expect((await require(false, withApp.cookie)).statusCode).toBe(200);
    expect(await all()).toEqual([401, 401, 200, 200, 200]);
  });

  it("keeps a session of single sign-on when the person sets a first password", async () => {
    const member = await host.addMember("viewer");
    await require(true);
    const cookie = await byProvider(member);
    const changed = await host.send("/password", { cookie, body: { current: null, next: "another long password" } });
    expect(await statusAs(bare(changed))).toBe(200);
    const again = await post("/login", { email: member.email, password: "another long password" });
    expect(again.json().secondStep.setUp).not.toBeNull();
  });

  it("409 for an owner without one; one with single sign-on may", async () => {
    const owner = await addMember();
    const refused = await require(true, owner.cookie);
    expect([refused.statusCode, refused.json().error]).toEqual([
      409,
      expect.stringContaining("Set up a second factor for yourself first"),
    ]);
    expect((await host.send("/settings")).json().secondFactor.required).toBe(false);
    expect((await require(true, await byProvider(owner))).statusCode).toBe(200);
  });

  it("is in the audit log, once for each change, and says how many members have none", async () => {
    const { email, cookie } = await addMemberWithApp();
    const before = (await host.send("/settings")).json().secondFactor;
    await addMember();
    expect((await require(true, cookie)).json().secondFactor).toEqual({
      required: true,
      membersWithout: before.membersWithout + 1,
    });
    await require(true, cookie);
    await require(false, cookie);
    const changes = (await actionsOf(email)).filter(({ action }) => action === "setting.changed");
    expect(changes).toEqual(
      [true, false].map((to) => ({ action: "setting.changed", target: "secondFactorRequired", details: { to } })),
    );
  });

  it("shows owners who has one", async () => {
    const [withApp, without] = [await addMemberWithApp(), await addMember()];
    const { members } = (await host.send("/members")).json();
    const has = (id: string) => members.find((member: Member) => member.id === id).hasFactor;
    expect([has(withApp.id), has(without.id)]).toEqual([true, false]);
  });

  it("409: the last factor stays", async () => {
    const { cookie } = await addMemberWithApp();
    await require(true);
    const remove = () => host.send("/factors/authenticator-app/remove", { cookie, body: {} });
    const refused = await remove();
    expect([refused.statusCode, refused.json().error]).toEqual([409, expect.stringContaining("your last one")]);
    expect((await host.send("/factors", { cookie })).json()).toMatchObject({ recoveryCodesLeft: 10 });
    expect((await host.send("/factors", { cookie })).json().appSince).not.toBeNull();
    await require(false);
    expect((await remove()).statusCode).toBe(200);
  });

  it("is turned off by the console when nobody gets in", async () => {
    const { email } = await addMember();
    await require(true);
    const cookie = await host.logIn();
    expect((await require(false, cookie)).statusCode).toBe(200);
    expect((await logIn(email)).json()).toEqual({ secondStep: null });
  });
});

describe("resetting a person's factors", () => {
  it("removes all of them, ends the sessions, and is the console's in the audit log", async () => {
    const { id, email, cookie } = await addMemberWithApp();
    const token = await tokenOf(email);
    expect(await resetFactors(host.api.pool, email.toUpperCase())).toEqual({ email, removed: 1 });
    expect(await statusAs(cookie)).toBe(401);
    expect((await post("/second-step", { token, code: "000000" })).statusCode).toBe(409);
    expect((await logIn(email)).json()).toEqual({ secondStep: null });
    const { rows } = await host.api.pool.query("select from recovery_codes where user_id = $1", [id]);
    expect(rows).toHaveLength(0);
    const entries = (await actionsOf("console")).filter(({ action, target }) => target === id && action !== "login");
    expect(entries).toEqual([
      { action: "factor.removed", target: id, details: { email, factor: "authenticator app" } },
    ]);
  });

  it("refuses an unknown address and a person without a factor, and changes nothing", async () => {
    const { email, cookie } = await addMember();
    await expect(resetFactors(host.api.pool, "nobody@emend.test")).rejects.toMatchObject({ code: "not_found" });
    await expect(resetFactors(host.api.pool, email)).rejects.toMatchObject({ code: "conflict" });
    expect(await statusAs(cookie)).toBe(200);
  });
});
