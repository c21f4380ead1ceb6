import { usualRetention } from "@emend/contract";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { retentionDays } from "../accounts/installation-settings.ts";
import { ensureOwnerLink } from "../accounts/people/login-links.ts";
import { createPasswords } from "../accounts/sessions/passwords.ts";

const retention = { ...usualRetention, archiveAfterDays: 30 };
let host: DashboardApi;
const password = "correct horse battery";
let passwordHash: string;
beforeAll(async () => {
  host = await startDashboard({ retention });
  passwordHash = await createPasswords().hash(password);
});
afterAll(() => host.close());

async function memberWithPassword(role: "owner" | "viewer" = "viewer") {
  const member = await host.addMember(role);
  await host.api.pool.query("update users set password_hash = $2 where id = $1", [member.id, passwordHash]);
  return member;
}
const logIn = (body: unknown, more: object = {}) => host.send("/auth/login", { cookie: null, body, ...more });
const cookieOf = (answer: { headers: { "set-cookie"?: string[] } }) => answer.headers["set-cookie"]?.[0] ?? "";
const bare = (cookie: string) => cookie.split(";", 1)[0] ?? "";

/** Repeats each counted attempt without hashing, which would take seconds. */
const repeatAttempts = (times: number) =>
  host.api.pool.query(
    "insert into login_attempts (key, attempt) select key, attempt from login_attempts, generate_series(1, $1)",
    [times],
  );

async function audit(query = ""): Promise<{ actor: string; action: string; address: string; details: object }[]> {
  return (await host.send(`/audit?${query}`)).json().entries;
}

describe("the first run", () => {
  it("makes the owner by the console's link: 201 with a session, then 410", async () => {
    const secret = "a secret of the tests, and of nothing else";
    const { pool } = host.api;
    expect((await host.send("/auth", { cookie: null })).json()).toMatchObject({ hasOwner: false });
    const link = await ensureOwnerLink({ pool, secret, publicUrl: "https://emend.test/base" }, { isNew: false });
    const token = link?.slice(link.lastIndexOf("/") + 1) ?? "";
    const look = () => host.send("/auth/link", { cookie: null, body: { token } });
    expect((await look()).json()).toEqual({ purpose: "owner", email: null, role: null });
    const body = { token, email: "ada@example.com", name: "Ada", password };
    const accepted = await host.send("/auth/accept", { cookie: null, body });
    expect(accepted.statusCode).toBe(201);
    const session = await host.send("/session", { cookie: bare(cookieOf(accepted)) });
    expect(session.json()).toMatchObject({
      subject: "ada@example.com",
      role: "owner",
      name: "Ada",
      cell: "eu-1",
      dataDir: "/srv/emend",
    });
    for (const again of [await look(), await host.send("/auth/accept", { cookie: null, body })]) {
      expect(again.statusCode).toBe(410);
      expect(again.json().error).toContain("was used, has expired or is incomplete");
    }
    expect((await host.send("/auth", { cookie: null })).json()).toMatchObject({ hasOwner: true });
  });
});

describe("logging in", () => {
  it("200 sets a new cookie that scripts and other sites do not get, and ends the session before", async () => {
    const member = await memberWithPassword();
    const answer = await logIn({ email: member.email, password }, { cookie: member.cookie });
    expect(answer.statusCode).toBe(200);
    expect(cookieOf(answer)).toMatch(
      /^__Host-emend=[\w-]{43}; Max-Age=604800; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    );
    expect((await host.send("/session", { cookie: member.cookie })).statusCode).toBe(401);
    const session = await host.send("/session", { cookie: bare(cookieOf(answer)) });
    expect(session.json()).toMatchObject({ subject: member.email, role: "viewer", hasPassword: true, dataDir: null });
  });

  it("401 with the same text for a wrong password and for an unknown account", async () => {
    const member = await memberWithPassword();
    const answers = [
      await logIn({ email: member.email, password: "wrong" }),
      await logIn({ email: "nobody@x.test", password }),
    ];
    expect(answers.map(({ statusCode, body }) => [statusCode, body])).toEqual(
      Array(2).fill([401, '{"error":"The email address or the password is wrong."}']),
    );
    expect(answers.flatMap(({ headers }) => headers["set-cookie"] ?? [])).toEqual([]);
  });

  it("429 with Retry-After after too many attempts, but not for a browser that logged in before", async () => {
    const { email, cookie: session } = await memberWithPassword();
    await host.api.pool.query("delete from login_attempts");
    const before = await logIn({ email, password });
    const device = bare(before.headers["set-cookie"]?.[1] ?? "");
    expect(device).toMatch(/^__Host-emend-device=/);
    expect((await logIn({ email, password: "guess" })).statusCode).toBe(401);
    await repeatAttempts(8);
    expect((await logIn({ email, password: "guess" })).statusCode).toBe(401);
    const answer = await logIn({ email, password });
    expect(answer.statusCode).toBe(429);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(800);
    for (const cookie of [device, session]) expect((await logIn({ email, password }, { cookie })).statusCode).toBe(200);
    // It is not a session.
    expect((await host.send("/session", { cookie: device })).statusCode).toBe(401);
    await host.api.pool.query("delete from login_attempts");
    expect((await audit("action=login.failed")).filter(({ actor }) => actor === email)).toHaveLength(2);
  });

  it.each([
    ["another origin", { origin: "https://evil.example" }],
    ["no origin", { origin: undefined }],
    ["another site", { "sec-fetch-site": "cross-site" }],
  ])("403 from %s: nobody is logged in by another site", async (_from, headers) => {
    const { email } = await memberWithPassword();
    const answer = await logIn({ email, password }, { headers });
    expect(answer.statusCode).toBe(403);
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });

  it.each([[{}], [{ email: 5, password: "x" }], [{ email: "a@b.c" }], ["no JSON"]])("400 for %j", async (body) => {
    expect((await logIn(body)).statusCode).toBe(400);
  });
});

describe("a body that the database cannot keep", () => {
  const nested = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
  it.each([
    ["U+0000", { email: "a\0@x.test", password: "x" }, "must not contain U+0000"],
    ["U+0000 in a key", { email: "a@x.test", password: "x", more: [{ "\0": 1 }] }, "must not contain U+0000"],
    ["a lone surrogate", { email: "a\ud800@x.test", password: "x" }, "must not contain a lone surrogate"],
    ["too many levels", { email: "a@x.test", password: "x", more: nested(50) }, "nested deeper than 50"],
    ["very many levels", nested(2_000), "nested deeper than 50"],
  ])("400 in words for %s, with a session and without", async (_what, body, words) => {
    for (const answer of [await logIn(body), await host.send("/invitations", { body })]) {
      expect([answer.statusCode, answer.json().error]).toEqual([400, expect.stringContaining(words)]);
    }
  });

  it("takes every other one", async () => {
    const body = { email: "nobody@x.test", password: "\ud83d\ude00", more: nested(49) };
    expect((await logIn(body)).statusCode).toBe(401);
  });
});

it("email about one's own jobs is off until the person turns it on, and the console has no address", async () => {
  const { cookie } = await memberWithPassword();
  const read = async () => (await host.send("/session", { cookie })).json().emailsJobs;
  expect(await read()).toBe(false);
  expect((await host.send("/notifications", { cookie, body: { emailsJobs: true } })).statusCode).toBe(200);
  expect(await read()).toBe(true);
  expect((await host.send("/notifications", { cookie, body: { emailsJobs: "no" } })).statusCode).toBe(400);
  expect((await host.send("/session")).json().emailsJobs).toBeNull();
  expect((await host.send("/notifications", { body: { emailsJobs: true } })).statusCode).toBe(409);
});

describe("one's own password", () => {
  it("200 changes it, ends every other session and gives this browser a new one", async () => {
    const member = await memberWithPassword();
    const next = "another long password";
    const send = (body: unknown) => host.send("/password", { cookie: member.cookie, body });
    expect((await send({ current: "wrong", next })).statusCode).toBe(400);
    expect((await send({ current: password, next: "short" })).json().error).toContain("at least 12");
    const changed = await send({ current: password, next });
    expect(changed.statusCode).toBe(200);
    expect((await host.send("/session", { cookie: member.cookie })).statusCode).toBe(401);
    expect((await host.send("/session", { cookie: bare(cookieOf(changed)) })).statusCode).toBe(200);
    expect((await logIn({ email: member.email, password: next })).statusCode).toBe(200);
    expect((await logIn({ email: member.email, password })).statusCode).toBe(401);
  });

  it("429 after ten wrong ones in a session, and none that strangers typed", async () => {
    const { email, cookie } = await memberWithPassword();
    await host.api.pool.query("delete from login_attempts");
    await logIn({ email, password: "guess" });
    await repeatAttempts(10);
    const prove = async (current: string) =>
      (await host.send("/password", { cookie, body: { current, next: "another long password" } })).statusCode;
    expect(await prove("wrong")).toBe(400);
    await repeatAttempts(8);
    expect(await prove("wrong")).toBe(400);
    expect(await prove(password)).toBe(429);
    await host.api.pool.query("delete from login_attempts");
  });

  it("409 for the console, which has none", async () => {
    expect((await host.send("/password", { body: { current: null, next: "a long password" } })).statusCode).toBe(409);
  });
});

describe("members", () => {
  it("201 invites, shown once; 409 for a member; 409 for the last owner's leave; 404 for nobody", async () => {
    const invited = await host.send("/invitations", { body: { email: "bo@x.test", role: "maintainer" } });
    expect(invited.statusCode).toBe(201);
    expect(invited.json().link).toMatch(/^https:\/\/emend\.test\/base\/login\/[\w-]{43}$/);
    const { invitations } = (await host.send("/members")).json();
    expect(invitations).toMatchObject([{ email: "bo@x.test", role: "maintainer", createdBy: "console" }]);
    expect(JSON.stringify(invitations)).not.toContain(invited.json().link.split("/").at(-1));
    expect((await host.send(`/invitations/${invitations[0].id}/revoke`, { body: {} })).statusCode).toBe(200);
    expect((await host.send(`/invitations/${invitations[0].id}/revoke`, { body: {} })).statusCode).toBe(404);

    const { email } = await host.addMember("viewer");
    expect((await host.send("/invitations", { body: { email, role: "viewer" } })).statusCode).toBe(409);
    expect((await host.send("/invitations", { body: { email: "x@x.test", role: "god" } })).statusCode).toBe(400);
    expect((await host.send("/members/nobody/remove", { body: {} })).statusCode).toBe(404);
    expect((await host.send("/members/%00/role", { body: { role: "viewer" } })).statusCode).toBe(404);
  });
});

describe("settings", () => {
  it("200 lets the dashboard's retention win over the environment's, and gives it back", async () => {
    const days = () => retentionDays(host.api.pool, "archiveAfterDays", retention);
    const set = (edit: unknown) => host.send("/settings", { method: "PATCH", body: { retention: edit } });
    const shows = async (answer: Promise<{ json(): unknown }>, archiveAfterDays: unknown) =>
      expect((await answer).json()).toMatchObject({ retention: { archiveAfterDays } });
    await shows(host.send("/settings"), { source: "environment", days: 30, environment: 30 });
    await shows(set({ archiveAfterDays: 7 }), { source: "dashboard", days: 7, environment: 30 });
    expect(await days()).toBe(7);
    await shows(set({ archiveAfterDays: null }), { source: "dashboard", days: null });
    expect(await days()).toBeNull();
    await shows(set({ archiveAfterDays: "environment" }), { source: "environment", days: 30 });
    for (const bad of [0, 1.5, "7", 40_000]) expect((await set({ archiveAfterDays: bad })).statusCode).toBe(400);
    // One that is wrong changes none.
    const refused = await set({ deleteLogsAfterDays: 5, deleteAfterDays: 6 });
    expect(refused.statusCode).toBe(400);
    expect(refused.json().message ?? refused.body).toMatch(/deleteAfterDays/);
    expect((await set({ unknown: 5 })).statusCode).toBe(400);
    expect((await set({ deleteLogsAfterDays: 5 })).json().retention).toMatchObject({
      deleteLogsAfterDays: { source: "dashboard", days: 5, environment: 90 },
      deleteAfterDays: { source: "environment", days: null },
    });
  });
});

describe("the audit log", () => {
  it("says who did what from where, by whichever way it was done", async () => {
    const maintainer = await host.addMember("maintainer");
    const { cookie, email } = maintainer;
    const { id } = (await host.send("/projects", { cookie, body: { name: "Handbook", forge: "local" } })).json();
    await host.send(`/projects/${id}`, { cookie, method: "PATCH", body: { name: "Book", settings: { lanes: 2 } } });
    const key = { name: "ci", projectIds: [id], scope: "read", expiresInDays: null, allowList: null };
    const { id: keyId } = (await host.send("/keys", { cookie, body: key })).json();
    await host.send(`/keys/${keyId}/revoke`, { cookie, body: {} });
    await host.send(`/members/${maintainer.id}/role`, { body: { role: "viewer" } });

    const entries = await audit(`actor=${encodeURIComponent(email)}`);
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["key.revoked", "key.created", "project.changed"]),
    );
    expect(entries.find(({ action }) => action === "project.changed")).toMatchObject({
      address: "127.0.0.1",
      details: { name: "Book", changed: ["lanes", "name"] },
    });
    expect((await audit("action=member.role"))[0]).toMatchObject({
      actor: "console",
      details: { email, from: "maintainer", to: "viewer" },
    });
    expect(JSON.stringify(await audit())).not.toContain(key);
  });

  it("stores nothing of a change that failed", async () => {
    const { id } = await host.api.addProject();
    const before = (await audit("action=project")).length;
    await host.send(`/projects/${id}`, { method: "PATCH", body: { name: "New", settings: { lanes: 0 } } });
    expect(await audit("action=project")).toHaveLength(before);
  });

  it("comes in pages, by actor and by kind, and as CSV that no spreadsheet takes for formulas", async () => {
    await host.api.pool.query(
      `insert into audit_log (actor, action, details)
       select '=cmd|x', 'test.row', jsonb_build_object('n', n, 'text', 'a "quoted", text') from generate_series(1, 130) n`,
    );
    const first = (await host.send("/audit?action=test")).json();
    expect(first.entries).toHaveLength(100);
    const second = (await host.send(`/audit?action=test&cursor=${first.nextCursor}`)).json();
    expect(second).toMatchObject({ nextCursor: null });
    expect(second.entries).toHaveLength(30);
    expect(new Set([...first.entries, ...second.entries].map(({ id }) => id)).size).toBe(130);
    expect((await audit("actor=%3Dcmd%7Cx&action=tes")).length).toBe(0);
    const csv = await host.send("/audit.csv?action=test.row");
    expect(csv.headers).toMatchObject({ "content-type": "text/csv; charset=utf-8" });
    const lines = csv.body.trimEnd().split("\r\n");
    expect(lines[0]).toBe("at,actor,address,action,target,details");
    expect(lines).toHaveLength(131);
    expect(lines[1]).toMatch(/^\d{4}-[^,]+,'=cmd\|x,,test\.row,,"\{""n"":\s?130,/);
    expect((await host.send("/audit?actor=%00")).statusCode).toBe(400);
  });
});
