import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { listRoutes, pathOf } from "@emend/testkit/list-routes.ts";
import { totpCode } from "@emend/testkit/totp-code.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createResetLink } from "../accounts/people/login-links.ts";
import { createPasswords } from "../accounts/sessions/passwords.ts";

let host: DashboardApi;
const password = "correct horse battery";
let passwordHash: string;
beforeAll(async () => {
  host = await startDashboard();
  passwordHash = await createPasswords().hash(password);
});
afterAll(() => host.close());
beforeEach(() => host.api.pool.query("truncate login_attempts"));

const bare = (answer: { headers: { "set-cookie"?: string[] } }) =>
  answer.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? "";
const statusAs = async (cookie: string) => (await host.send("/session", { cookie })).statusCode;

async function addMember() {
  const member = await host.addMember("owner");
  await host.api.pool.query("update users set password_hash = $2 where id = $1", [member.id, passwordHash]);
  return member;
}

/** A member with an authenticator app. The code of the current step is used up. */
async function addMemberWithApp() {
  const member = await addMember();
  const { key, setup } = (
    await host.send("/factors/authenticator-app/begin", { cookie: member.cookie, body: {} })
  ).json();
  const body = { setup, code: totpCode(key) };
  const confirmed = await host.send("/factors/authenticator-app/confirm", { cookie: member.cookie, body });
  expect(confirmed.statusCode).toBe(200);
  return { ...member, key: key as string, recoveryCodes: confirmed.json().recoveryCodes as string[] };
}

const logIn = (email: string, cookie: string | null = null) =>
  host.send("/auth/login", { cookie, body: { email, password } });
async function begin(email: string): Promise<string> {
  return (await logIn(email)).json().secondStep.token;
}
const finish = (token: string, code: string, cookie: string | null = null) =>
  host.send("/auth/second-step", { cookie, body: { token, code } });
const forget = (id: string) =>
  host.api.pool.query("update authenticator_apps set last_step = 0 where user_id = $1", [id]);
const makeStale = (id: string) =>
  host.api.pool.query("update sessions set proved_at = proved_at - interval '11 minutes' where user_id = $1", [id]);
const actionsOf = async (email: string) => {
  const { rows } = await host.api.pool.query("select action, details from audit_log where actor = $1 order by id", [
    email,
  ]);
  return rows as { action: string; details: Record<string, unknown> }[];
};

describe("a login with an authenticator app", () => {
  it("opens a session after a code of the app, and not before", async () => {
    const { email, key } = await addMemberWithApp();
    const first = await logIn(email);
    expect(first.statusCode).toBe(200);
    expect(first.headers["set-cookie"]).toBeUndefined();
    const { token } = first.json().secondStep;
    const answer = await finish(token, totpCode(key, 1).replace(/^.../, "$& "));
    expect([answer.statusCode, answer.json()]).toEqual([200, { secondStep: null }]);
    const sessions = await host.send("/sessions", { cookie: bare(answer) });
    expect(sessions.json().sessions[0].by).toBe("password and authenticator app");
    expect((await actionsOf(email)).at(-1)).toMatchObject({
      action: "login",
      details: { by: "password and authenticator app" },
    });
  });

  it("409: the first step works once, and not after ten minutes or a new password", async () => {
    const { id, email, recoveryCodes } = await addMemberWithApp();
    const token = await begin(email);
    expect((await finish(token, recoveryCodes[0] ?? "")).statusCode).toBe(200);
    expect((await finish(token, recoveryCodes[1] ?? "")).statusCode).toBe(409);
    const late = await begin(email);
    await host.api.pool.query("update pending_logins set expires_at = clock_timestamp() where user_id = $1", [id]);
    expect((await finish(late, recoveryCodes[1] ?? "")).statusCode).toBe(409);
    const before = await begin(email);
    const { pool } = host.api;
    const link = await createResetLink({ pool, publicUrl: "https://emend.test/base" }, email);
    const reset = { token: link.slice(link.lastIndexOf("/") + 1), password: "another long password" };
    const accepted = await host.send("/auth/accept", { cookie: null, body: reset });
    expect(accepted.headers["set-cookie"]).toBeUndefined();
    expect((await finish(before, recoveryCodes[1] ?? "")).statusCode).toBe(409);
    // The link's own second step.
    expect((await finish(accepted.json().secondStep.token, recoveryCodes[1] ?? "")).statusCode).toBe(200);
    expect((await finish("x".repeat(43), "123456")).statusCode).toBe(409);
  });

  it("401: a code works once, also for two requests at the same time", async () => {
    const { id, email, key } = await addMemberWithApp();
    // The code that confirmed the app.
    expect((await finish(await begin(email), totpCode(key, -1))).statusCode).toBe(401);
    await forget(id);
    const code = totpCode(key);
    const tokens = await Promise.all(Array.from({ length: 4 }, () => begin(email)));
    const answers = await Promise.all(tokens.map((token) => finish(token, code)));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401, 401, 401]);
    await host.api.pool.query("truncate login_attempts");
    expect((await finish(await begin(email), code)).statusCode).toBe(401);
  });

  it("401: a recovery code works once, also for two requests at the same time", async () => {
    const { email, recoveryCodes } = await addMemberWithApp();
    expect(recoveryCodes).toHaveLength(10);
    expect(new Set(recoveryCodes).size).toBe(10);
    const tokens = await Promise.all(Array.from({ length: 4 }, () => begin(email)));
    const answers = await Promise.all(tokens.map((token) => finish(token, recoveryCodes[0] ?? "")));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401, 401, 401]);
    // However it is typed.
    const typed = recoveryCodes[1]?.toUpperCase().replaceAll("-", " ") ?? "";
    const answer = await finish(await begin(email), typed);
    expect(answer.statusCode).toBe(200);
    const factors = await host.send("/factors", { cookie: bare(answer) });
    expect(factors.json()).toMatchObject({ recoveryCodesLeft: 8 });
    const used = (await actionsOf(email)).filter(({ action }) => action === "factor.code_used");
    expect(used.map(({ details }) => details.left)).toEqual([9, 8]);
  });

  it("401: another person's codes", async () => {
    const [ada, bo] = [await addMemberWithApp(), await addMemberWithApp()];
    const token = await begin(ada.email);
    expect((await finish(token, bo.recoveryCodes[0] ?? "")).statusCode).toBe(401);
    await forget(ada.id);
    expect((await finish(token, totpCode(bo.key))).statusCode).toBe(401);
    expect((await finish(token, ada.recoveryCodes[0] ?? "")).statusCode).toBe(200);
  });

  it("429 after five wrong codes from any address, and for the right one; the person's own browser goes on", async () => {
    const { id, email, recoveryCodes } = await addMemberWithApp();
    const own = await finish(await begin(email), recoveryCodes[0] ?? "");
    const device = own.headers["set-cookie"]?.[1]?.split(";", 1)[0] ?? "";
    const guesses = await Promise.all(
      Array.from({ length: 8 }, async () => (await finish(await begin(email), "000000")).statusCode),
    );
    expect(guesses.sort()).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    await forget(id);
    const refused = await finish(await begin(email), recoveryCodes[1] ?? "");
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(800);
    // A password that is right again forgets none of them.
    await logIn(email);
    expect((await finish(await begin(email), recoveryCodes[1] ?? "")).statusCode).toBe(429);
    expect((await finish(await begin(email), recoveryCodes[1] ?? "", device)).statusCode).toBe(200);
    const failed = (await actionsOf(email)).filter(({ action }) => action === "login.failed");
    expect(failed).toHaveLength(5);
  });

  it("a half-open login opens no route, as a cookie or in any other place", async () => {
    const { email } = await addMemberWithApp();
    const token = await begin(email);
    const letIn: string[] = [];
    const shared = listRoutes(host).filter(({ url }) => !/^\/auth/.test(url));
    expect(shared.length).toBeGreaterThan(60);
    for (const route of shared) {
      const body = route.method === "GET" ? {} : { body: {} };
      for (const cookie of [`__Host-emend=${token}`, `__Host-emend-device=${token}`, `__Host-emend-passing=${token}`]) {
        const headers = { authorization: `Bearer ${token}` };
        const answer = await host.send(pathOf(route), { method: route.method as "GET", cookie, headers, ...body });
        if (answer.statusCode !== 401) letIn.push(`${route.method} ${route.url}: ${answer.statusCode}`);
      }
    }
    expect(letIn).toEqual([]);
    const asLink = await host.api.send(`/login/${token}`);
    expect(asLink.status).toBe(410);
  });

  it("403: another site sends no code", async () => {
    const { email, recoveryCodes } = await addMemberWithApp();
    const body = { token: await begin(email), code: recoveryCodes[0] };
    const answer = await host.send("/auth/second-step", {
      cookie: null,
      body,
      headers: { origin: "https://evil.example" },
    });
    expect(answer.statusCode).toBe(403);
  });
});

describe("changing a factor", () => {
  const changes = [
    "authenticator-app/begin",
    "authenticator-app/confirm",
    "authenticator-app/remove",
    "recovery-codes",
  ];

  it.each(changes)(
    "403 for %s in a session that is not fresh, until a password or a code confirms it",
    async (change) => {
      const member = await addMemberWithApp();
      const send = () => host.send(`/factors/${change}`, { cookie: member.cookie, body: { setup: "", code: "" } });
      await makeStale(member.id);
      expect((await send()).statusCode).toBe(403);
      const prove = (body: object) => host.send("/factors/prove", { cookie: member.cookie, body });
      expect((await prove({ password: "wrong" })).statusCode).toBe(400);
      expect((await prove({ code: "000000" })).statusCode).toBe(400);
      expect((await send()).statusCode).toBe(403);
      const proof = change === "recovery-codes" ? { password } : { code: totpCode(member.key, 1) };
      expect((await prove(proof)).statusCode).toBe(200);
      expect([200, 400]).toContain((await send()).statusCode);
    },
  );

  it("403 for a first password in a session that is not fresh: it would prove everything after", async () => {
    const member = await host.addMember("viewer");
    await makeStale(member.id);
    const body = { current: null, next: "another long password" };
    const answer = await host.send("/password", { cookie: member.cookie, body });
    expect([answer.statusCode, answer.json().error]).toEqual([403, expect.stringContaining("Confirm that it is you")]);
    expect((await host.send("/session", { cookie: member.cookie })).json().hasPassword).toBe(false);
  });

  it("429 for a stolen session that guesses", async () => {
    const member = await addMemberWithApp();
    await makeStale(member.id);
    const prove = () => host.send("/factors/prove", { cookie: member.cookie, body: { code: "000000" } });
    const statuses = [];
    for (let count = 0; count < 11; count += 1) statuses.push((await prove()).statusCode);
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
  });

  it("ends the person's other sessions and half-open logins, and is in the audit log", async () => {
    const member = await addMember();
    const other = bare(await logIn(member.email));
    const { key, setup } = (
      await host.send("/factors/authenticator-app/begin", { cookie: member.cookie, body: {} })
    ).json();
    expect(await statusAs(other)).toBe(200);
    const confirm = (code: string) =>
      host.send("/factors/authenticator-app/confirm", { cookie: member.cookie, body: { setup, code } });
    expect((await confirm("000000")).statusCode).toBe(400);
    expect(await statusAs(other)).toBe(200);
    const { recoveryCodes } = (await confirm(totpCode(key))).json();
    expect([await statusAs(other), await statusAs(member.cookie)]).toEqual([401, 200]);

    const token = await begin(member.email);
    const fresh = await host.send("/factors/recovery-codes", { cookie: member.cookie, body: {} });
    expect(fresh.json().recoveryCodes).toHaveLength(10);
    expect((await finish(token, fresh.json().recoveryCodes[0])).statusCode).toBe(409);
    expect((await finish(await begin(member.email), recoveryCodes[0])).statusCode).toBe(401);

    await host.send("/factors/authenticator-app/remove", { cookie: member.cookie, body: {} });
    expect((await host.send("/factors", { cookie: member.cookie })).json()).toMatchObject({
      appSince: null,
      recoveryCodesLeft: 0,
    });
    expect((await logIn(member.email)).json()).toEqual({ secondStep: null });
    const actions = (await actionsOf(member.email)).map(({ action }) => action);
    expect(actions.filter((action) => /^factor/.test(action))).toEqual([
      "factor.added",
      "factor.codes_created",
      "factor.codes_created",
      "factor.removed",
    ]);
  });

  it("400 for a set-up of another person", async () => {
    const [ada, bo] = [await addMember(), await addMember()];
    const { key, setup } = (
      await host.send("/factors/authenticator-app/begin", { cookie: ada.cookie, body: {} })
    ).json();
    const body = { setup, code: totpCode(key) };
    const answer = await host.send("/factors/authenticator-app/confirm", { cookie: bo.cookie, body });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error).toContain("expired");
  });

  it("409 for a session of the console", async () => {
    for (const change of changes) {
      const answer = await host.send(`/factors/${change}`, { body: { setup: "", code: "" } });
      expect(answer.statusCode).toBe(409);
    }
  });

  it("removing a member takes the factors along, without an entry for each", async () => {
    const { id, email } = await addMemberWithApp();
    await host.send(`/members/${id}/remove`, { body: {} });
    const { rows } = await host.api.pool.query(
      "select user_id from authenticator_apps union select user_id from recovery_codes",
    );
    expect(rows.map((row) => row.user_id)).not.toContain(id);
    const { rows: entries } = await host.api.pool.query(
      "select action from audit_log where actor = 'console' and details ->> 'email' = $1",
      [email],
    );
    expect(entries).toEqual([{ action: "member.removed" }]);
  });

  it("stores no key and no recovery code in the clear", async () => {
    const { id, key, recoveryCodes } = await addMemberWithApp();
    const { rows } = await host.api.pool.query(
      `select encode(secret, 'escape') as text from authenticator_apps where user_id = $1
       union all select encode(code_hash, 'escape') from recovery_codes where user_id = $1`,
      [id],
    );
    const stored = rows.map(({ text }) => text).join("\n");
    for (const secret of [key, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll("-", ""))]) {
      expect(stored.toLowerCase()).not.toContain(secret.toLowerCase());
    }
  });
});
