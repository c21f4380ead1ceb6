import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { consoleActor, inTransaction } from "../../db/transaction.ts";
import { changePassword } from "../sessions/log-in.ts";
import { findSession, listOwnSessions } from "../sessions/session-store.ts";
import { createSessions } from "../sessions/sessions.ts";
import { acceptLink, createResetLink, ensureOwnerLink } from "./login-links.ts";
import { changeRole, inviteMember, listInvitations, listMembers, removeMember, revokeInvitation } from "./members.ts";

const publicUrl = "https://docs.example.com/emend";
const secret = "a secret of the tests, and of nothing else";
/** The login tests cover password hashing. */
const passwords = { hash: async (password: string) => `hash of ${password}`, isRight: async () => false };
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query("truncate users, sessions, login_links, audit_log cascade"));

const ownerLink = (isNew = false, by = secret) =>
  ensureOwnerLink({ pool: database.pool, secret: by, publicUrl }, { isNew });
const tokenOf = (link: string | null) => (link ?? "").slice((link ?? "").lastIndexOf("/") + 1);
const accept = (link: string | null, more: Partial<Parameters<typeof acceptLink>[1]> = {}) =>
  acceptLink(
    { pool: database.pool, passwords },
    {
      token: tokenOf(link),
      email: "ada@example.com",
      name: "Ada",
      password: "correct horse battery",
      address: "198.51.100.1",
      replaces: null,
      ...more,
    },
  );
const invite = async (email: string, role: "owner" | "maintainer" | "viewer" = "viewer") =>
  (await inviteMember({ pool: database.pool, publicUrl }, { email, role }, consoleActor)).link;
const audited = async () =>
  (
    await database.pool.query<{ line: string }>("select actor || ' ' || action as line from audit_log order by id")
  ).rows.map(({ line }) => line);

describe("the owner's link", () => {
  it("is the same on every node, until another is asked for", async () => {
    const links = await Promise.all(Array.from({ length: 8 }, () => ownerLink()));
    expect(new Set(links).size).toBe(1);
    expect(links[0]).toMatch(/^https:\/\/docs\.example\.com\/emend\/login\/[\w-]{43}$/);
    const newer = await ownerLink(true);
    expect(newer).not.toBe(links[0]);
    expect(await accept(links[0] ?? null)).toEqual({ kind: "gone" });
    expect(await ownerLink()).toBe(newer);
  });

  it("cannot be derived from the database alone, and differs for another secret", async () => {
    const first = await ownerLink();
    const { rows } = await database.pool.query<{ all: string }>("select login_links::text as all from login_links");
    expect(rows[0]?.all).not.toContain(tokenOf(first));
    const other = await ownerLink(false, "another secret of the tests, just as long");
    expect(other).not.toBe(first);
  });

  it("makes exactly one owner of concurrent requests, and stops working afterwards", async () => {
    const link = await ownerLink();
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, index) => accept(link, { email: `person-${index}@example.com` })),
    );
    expect(outcomes.filter(({ kind }) => kind === "logged_in")).toHaveLength(1);
    const members = await listMembers(database.pool);
    expect(members).toMatchObject([{ role: "owner", hasPassword: true }]);
    expect(await ownerLink()).toBeNull();
    expect(await ownerLink(true)).toBeNull();
    expect(
      await createSessions({ pool: database.pool, publicUrl: () => publicUrl }).claim(tokenOf(link), undefined),
    ).toEqual({
      kind: "gone",
    });
    expect((await audited()).filter((line) => line.endsWith("member.added"))).toEqual([
      `${members[0]?.email} member.added`,
    ]);
  });

  it("works as long as there is no owner", async () => {
    const link = await ownerLink();
    await accept(await invite("first@example.com", "maintainer"));
    expect(await ownerLink()).toBe(link);
    expect((await accept(link)).kind).toBe("logged_in");
    expect(await listMembers(database.pool)).toMatchObject([
      { email: "ada@example.com", role: "owner" },
      { email: "first@example.com", role: "maintainer" },
    ]);
    expect(await ownerLink()).toBeNull();
  });

  it("makes no second owner where somebody got in by another way meanwhile", async () => {
    const link = await ownerLink();
    await accept(await invite("first@example.com", "owner"));
    expect(await accept(link)).toEqual({ kind: "gone" });
    expect(await listMembers(database.pool)).toHaveLength(1);
  });

  it.each([
    ["a short password", { password: "eleven char" }],
    ["the address as the password", { password: "ada@example.com" }],
    ["one letter over and over", { password: "aaaaaaaaaaaaaaaa" }],
    ["no address", { email: "ada" }],
    ["an address beyond ASCII", { email: "\u0130da@example.com" }],
    ["no name", { name: " " }],
  ])("is not spent by %s", async (_what, more) => {
    const link = await ownerLink();
    await expect(accept(link, more)).rejects.toMatchObject({ code: "invalid_request" });
    expect((await accept(link)).kind).toBe("logged_in");
  });

  it("expires", async () => {
    const link = await ownerLink();
    await database.pool.query("update login_links set expires_at = clock_timestamp()");
    expect(await accept(link)).toEqual({ kind: "gone" });
    expect(await ownerLink()).not.toBe(link);
  });
});

describe("an invitation", () => {
  it("lets one person in, by its own address and role, once", async () => {
    const link = await invite("bo@example.com", "maintainer");
    expect(await listInvitations(database.pool)).toMatchObject([{ email: "bo@example.com", role: "maintainer" }]);
    const outcomes = await Promise.all([accept(link), accept(link, { email: "mallory@example.com" })]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["gone", "logged_in"]);
    expect(await listMembers(database.pool)).toMatchObject([{ email: "bo@example.com", role: "maintainer" }]);
    expect(await listInvitations(database.pool)).toEqual([]);
    await expect(invite("BO@example.com")).rejects.toMatchObject({ code: "conflict" });
  });

  it("is for an address in lower case, of ASCII alone", async () => {
    await invite(" Bo@Example.COM ");
    expect(await listInvitations(database.pool)).toMatchObject([{ email: "bo@example.com" }]);
    await expect(invite("b\u00f6@example.com")).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("is gone once it is revoked, replaced or old", async () => {
    const first = await invite("bo@example.com");
    const second = await invite("Bo@example.com");
    expect(await accept(first)).toEqual({ kind: "gone" });
    const [listed] = await listInvitations(database.pool);
    expect(await revokeInvitation(database.pool, listed?.id ?? "", consoleActor)).toBe(true);
    expect(await accept(second)).toEqual({ kind: "gone" });
    const third = await invite("bo@example.com");
    await database.pool.query("update login_links set expires_at = clock_timestamp()");
    expect(await accept(third)).toEqual({ kind: "gone" });
    expect(await audited()).toContain("console invitation.revoked");
  });
});

describe("an invitation by somebody who may no longer invite", () => {
  it.each<[string, (id: string) => Promise<void>]>([
    ["was removed", (id) => removeMember(database.pool, id, consoleActor)],
    ["is an owner no more", (id) => changeRole(database.pool, { id, role: "maintainer" }, consoleActor)],
  ])("is gone once its maker %s, and nobody else's is", async (_what, change) => {
    await accept(await ownerLink());
    await accept(await invite("bo@example.com", "owner"));
    const bo = (await listMembers(database.pool)).find(({ email }) => email === "bo@example.com");
    const by = { name: "bo@example.com", address: "198.51.100.2" };
    const backDoor = { email: "eve@example.com", role: "owner" } as const;
    const { link } = await inviteMember({ pool: database.pool, publicUrl }, backDoor, by);
    const others = await invite("cy@example.com");
    await change(bo?.id ?? "");
    expect(await accept(link)).toEqual({ kind: "gone" });
    expect((await accept(others)).kind).toBe("logged_in");
    expect(await audited()).toContain("console invitation.revoked");
  });

  it("is not created by a person who was removed meanwhile", async () => {
    await accept(await ownerLink());
    await accept(await invite("bo@example.com", "owner"));
    const { started } = await inTransaction(database.pool, async (client) => {
      await client.query("select from users for update");
      const wanted = { email: "eve@example.com", role: "owner" } as const;
      const by = { name: "bo@example.com", address: null };
      const inviting = inviteMember({ pool: database.pool, publicUrl }, wanted, by);
      const outcome = inviting.then(
        () => "invited",
        (error) => error.code,
      );
      await client.query("select pg_sleep(0.2)");
      await client.query("delete from users where email = 'bo@example.com'");
      return { started: outcome };
    });
    expect(await started).toBe("forbidden");
    expect(await listInvitations(database.pool)).toEqual([]);
  });

  it("stays where an owner stays one", async () => {
    await accept(await ownerLink());
    const [ada] = await listMembers(database.pool);
    const by = { name: "ada@example.com", address: null };
    const wanted = { email: "cy@example.com", role: "viewer" } as const;
    const { link } = await inviteMember({ pool: database.pool, publicUrl }, wanted, by);
    await changeRole(database.pool, { id: ada?.id ?? "", role: "owner" }, consoleActor);
    expect((await accept(link)).kind).toBe("logged_in");
  });
});

describe("a new password", () => {
  it("ends every session of the person, and opens one", async () => {
    const first = await accept(await ownerLink());
    if (first.kind !== "logged_in") throw new Error(first.kind);
    const link = await createResetLink({ pool: database.pool, publicUrl }, "Ada@Example.com");
    const second = await accept(link, { password: "another long password" });
    if (second.kind !== "logged_in") throw new Error(second.kind);
    expect(await findSession(database.pool, first.sessionToken)).toBeNull();
    expect(await findSession(database.pool, second.sessionToken)).toMatchObject({ role: "owner" });
    expect(await audited()).toEqual(
      expect.arrayContaining(["console password_link.created", "ada@example.com member.password"]),
    );
    expect(await accept(link)).toEqual({ kind: "gone" });
  });

  const resetLink = (email: string) => createResetLink({ pool: database.pool, publicUrl }, email);

  it("by one link spends every other of the person, also of several at once, and nobody else's", async () => {
    await accept(await ownerLink());
    await accept(await invite("bo@example.com"));
    const links = await Promise.all(Array.from({ length: 4 }, () => resetLink("ada@example.com")));
    const others = await resetLink("bo@example.com");
    const outcomes = await Promise.all(links.map((link) => accept(link)));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["gone", "gone", "gone", "logged_in"]);
    expect((await accept(others)).kind).toBe("logged_in");
  });

  it("by the person's own hand spends every link of the person", async () => {
    await accept(await ownerLink());
    const [ada] = await listMembers(database.pool);
    const link = await resetLink("ada@example.com");
    const change = {
      userId: ada?.id ?? "",
      current: "x",
      next: "another long password",
      isFresh: false,
      how: null,
      address: "198.51.100.2",
    };
    const sessions = (token: string) => listOwnSessions(database.pool, { userId: change.userId, token });
    expect(await sessions("")).toMatchObject([{ by: "link", address: "198.51.100.1" }]);
    const deps = { pool: database.pool, passwords: { ...passwords, isRight: async () => true } };
    const token = await changePassword(deps, change);
    expect(await sessions(token)).toMatchObject([{ by: "password", address: "198.51.100.2", isThis: true }]);
    expect(await accept(link)).toEqual({ kind: "gone" });
  });

  it("is not changed by whoever proved a password that another session has replaced meanwhile", async () => {
    await accept(await ownerLink());
    const [ada] = await listMembers(database.pool);
    const change = {
      userId: ada?.id ?? "",
      current: "x",
      next: "another long password",
      isFresh: false,
      how: null,
      address: "198.51.100.2",
    };
    const hash = async (password: string) => {
      await database.pool.query("update users set password_hash = 'of the other session'");
      return passwords.hash(password);
    };
    const changing = changePassword({ pool: database.pool, passwords: { hash, isRight: async () => true } }, change);
    await expect(changing).rejects.toMatchObject({ code: "conflict" });
    const { rows } = await database.pool.query("select password_hash from users");
    expect(rows).toEqual([{ password_hash: "of the other session" }]);
  });
});

describe("the last owner", () => {
  const countWaiting = async () =>
    (
      await database.pool.query<{ count: number }>(
        "select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
    ).rows[0]?.count;

  it("stays, also where two owners remove each other at once", async () => {
    await accept(await ownerLink());
    await accept(await invite("bo@example.com", "owner"));
    const [ada, bo] = (await listMembers(database.pool)).map(({ id }) => id);
    // Both have started before either ends.
    const both = await inTransaction(database.pool, async (client) => {
      await client.query("select from users for update");
      const started = Promise.allSettled([
        removeMember(database.pool, ada ?? "", consoleActor),
        changeRole(database.pool, { id: bo ?? "", role: "viewer" }, consoleActor),
      ]);
      await expect.poll(countWaiting).toBe(2);
      return { started };
    });
    const outcomes = await both.started;
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const owners = (await listMembers(database.pool)).filter(({ role }) => role === "owner");
    expect(owners).toHaveLength(1);
    await expect(removeMember(database.pool, owners[0]?.id ?? "", consoleActor)).rejects.toMatchObject({
      code: "conflict",
    });
  });

  it("and a person who was removed or demoted meanwhile cannot change members", async () => {
    await accept(await ownerLink());
    await accept(await invite("bo@example.com", "owner"));
    await accept(await invite("cy@example.com", "owner"));
    const [ada, bo, cy] = (await listMembers(database.pool)).map(({ id }) => id);
    const asBo = { name: "bo@example.com", address: null };
    const late = await inTransaction(database.pool, async (client) => {
      await client.query("select from users for update");
      await client.query("update users set role = 'viewer' where id = $1", [bo]);
      const started = Promise.allSettled([
        removeMember(database.pool, cy ?? "", asBo),
        changeRole(database.pool, { id: ada ?? "", role: "viewer" }, asBo),
        changeRole(database.pool, { id: bo ?? "", role: "owner" }, asBo),
      ]);
      await expect.poll(countWaiting).toBe(3);
      return { started };
    });
    for (const outcome of await late.started) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "forbidden" } });
    }
    const members = (await listMembers(database.pool)).map(({ email, role }) => `${email} ${role}`);
    expect(members).toEqual(["ada@example.com owner", "bo@example.com viewer", "cy@example.com owner"]);
  });
});
