import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { KnownDevice } from "./log-in.ts";
import { logIn } from "./log-in.ts";
import { createPasswords } from "./passwords.ts";
import { findSession, listOwnSessions } from "./session-store.ts";

let database: TestDatabase;
const passwords = createPasswords();
const right = "correct horse battery";
beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query(
    `insert into users (id, email, name, role, password_hash) values
       ('usr_ada', 'Ada@example.com', 'Ada', 'viewer', $1), ('usr_sso', 'sso@example.com', 'S', 'owner', null)`,
    [await passwords.hash(right)],
  );
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query("truncate login_attempts, audit_log"));

const attempt = (more: Partial<Parameters<typeof logIn>[1]> = {}) =>
  logIn(
    { pool: database.pool, passwords },
    { email: "ada@example.com", password: right, address: "198.51.100.1", device: null, replaces: null, ...more },
  );
const wrong = { password: "something else altogether" };

/** Without hashing: attempts are counted before any hash is computed. */
const quick = { hash: async () => "", isRight: async () => false };
const guess = (more: { email?: string; address?: string; device?: KnownDevice }) =>
  logIn(
    { pool: database.pool, passwords: quick },
    { email: "ada@example.com", password: "x", address: "198.51.100.1", device: null, replaces: null, ...more },
  );

it("refuses a password that was changed, or a person who was removed, while it was compared", async () => {
  const { pool } = database;
  await pool.query(
    "insert into users (id, email, name, role, password_hash) values ('usr_eve', 'eve@example.com', 'E', 'viewer', 'old')",
  );
  const meanwhile = (statement: string) => ({
    hash: async () => "",
    isRight: async () => (await pool.query(statement)).rowCount === 1,
  });
  for (const statement of [
    "update users set password_hash = 'new' where id = 'usr_eve'",
    "delete from users where id = 'usr_eve'",
  ]) {
    const input = { email: "eve@example.com", password: "x", address: "198.51.100.1", device: null, replaces: null };
    expect(await logIn({ pool, passwords: meanwhile(statement) }, input)).toEqual({ kind: "refused" });
  }
  expect((await pool.query("select from sessions where user_id = 'usr_eve'")).rowCount).toBe(0);
});

it("opens a session of the person, by whichever case of the address, and ends the one before", async () => {
  const first = await attempt({ email: " ADA@EXAMPLE.COM " });
  if (first.kind !== "logged_in") throw new Error(first.kind);
  expect(await findSession(database.pool, first.sessionToken)).toEqual({
    subject: "Ada@example.com",
    role: "viewer",
    userId: "usr_ada",
    isFresh: true,
    how: "password",
  });
  const second = await attempt({ replaces: first.sessionToken });
  expect(second.kind).toBe("logged_in");
  expect(await findSession(database.pool, first.sessionToken)).toBeNull();
  const { rows } = await database.pool.query("select actor, address, action, details from audit_log order by id");
  expect(rows[0]).toEqual({
    actor: "Ada@example.com",
    address: "198.51.100.1",
    action: "login",
    details: { by: "password" },
  });
  const token = second.kind === "logged_in" ? second.sessionToken : "";
  expect(await listOwnSessions(database.pool, { userId: "usr_ada", token })).toMatchObject([
    { by: "password", address: "198.51.100.1", isThis: true },
  ]);
});

it("refuses a wrong password, an unknown person and one without a password alike", async () => {
  for (const more of [wrong, { email: "nobody@example.com" }, { email: "sso@example.com" }, { password: "" }]) {
    expect(await attempt(more)).toEqual({ kind: "refused" });
  }
  const { rows } = await database.pool.query("select actor, action from audit_log order by id");
  expect(rows.map(({ actor }) => actor)).toEqual(["Ada@example.com", "unknown", "sso@example.com", "Ada@example.com"]);
});

it("hashes for unknown accounts too, so that the time does not reveal accounts", async () => {
  const asked: boolean[] = [];
  const counting = {
    hash: async () => "",
    isRight: async (_password: string, stored: string | null) => asked.push(stored !== null) < 0,
  };
  for (const email of ["ada@example.com", "nobody@example.com", "sso@example.com", "no address"]) {
    const credentials = { email, password: "x", address: "198.51.100.1", device: null, replaces: null };
    expect(await logIn({ pool: database.pool, passwords: counting }, credentials)).toEqual({ kind: "refused" });
  }
  expect(asked).toEqual([true, false, false, false]);
});

describe("throttling", () => {
  it("takes ten guesses at an account from an address, sent all at once, and then not even the right one", async () => {
    const outcomes = await Promise.all(Array.from({ length: 25 }, () => guess({ email: "ADA@example.com " })));
    expect(outcomes.filter(({ kind }) => kind === "refused")).toHaveLength(10);
    const late = await attempt();
    if (late.kind !== "throttled") throw new Error(late.kind);
    expect(late.retryAfterMs).toBeGreaterThan(14 * 60_000);
    expect(late.retryAfterMs).toBeLessThanOrEqual(15 * 60_000);
  });

  it("is not closed by strangers: the person gets in from elsewhere, however many guess", async () => {
    for (let index = 0; index < 12; index += 1) await guess({});
    expect((await attempt()).kind).toBe("throttled");
    await siege();
    expect((await attempt({ address: "192.0.2.9" })).kind).toBe("logged_in");
  });

  it("takes three guesses from each further address, once an account was guessed at a hundred times", async () => {
    await siege();
    const sent = Array.from({ length: 8 }, () => guess({ address: "192.0.2.10" }));
    expect((await Promise.all(sent)).filter(({ kind }) => kind === "refused")).toHaveLength(3);
    expect((await guess({ address: "192.0.2.11", email: "sso@example.com" })).kind).toBe("refused");
    const { rows } = await database.pool.query(
      "select count(*)::int from login_attempts where key like 'account/%' group by key",
    );
    expect(rows.map(({ count }) => count).sort()).toEqual([1, 100]);
    // A correct login does not reset the count.
    expect((await attempt({ address: "192.0.2.12" })).kind).toBe("logged_in");
    for (let index = 0; index < 3; index += 1) await guess({ address: "192.0.2.13" });
    expect((await guess({ address: "192.0.2.13" })).kind).toBe("throttled");
  });

  /** Attempts from many addresses. The tests above cover how each is counted. */
  const siege = async () => {
    await guess({ address: "203.0.113.1" });
    await database.pool.query(
      `insert into login_attempts (key, attempt)
       select key, gen_random_uuid()
       from (select key, count(*)::int as counted from login_attempts where key like 'account/%' group by key) account,
         generate_series(1, 100 - counted)`,
    );
  };

  it("gives a known browser its own ten attempts, despite failed attempts by others", async () => {
    const device = { email: "ada@example.com", id: "of-ada" };
    await siege();
    for (let index = 0; index < 40; index += 1)
      await guess({ email: index % 2 ? "ada@example.com" : `${index}@x.test` });
    expect((await attempt()).kind).toBe("throttled");
    expect((await attempt({ device })).kind).toBe("logged_in");
    const outcomes = await Promise.all(Array.from({ length: 15 }, () => guess({ device })));
    expect(outcomes.filter(({ kind }) => kind === "refused")).toHaveLength(10);
    expect((await attempt({ device })).kind).toBe("throttled");
    // Another person's browser is not known.
    expect((await attempt({ device: { email: "sso@example.com", id: "of-another" } })).kind).toBe("throttled");
  });

  it("takes no further guesses by letters that the database alone folds into the account's", async () => {
    await database.pool.query(
      "insert into users (id, email, name, role, password_hash) values ('usr_vic', 'victim@corp.test', 'V', 'viewer', $1)",
      [await passwords.hash(right)],
    );
    for (const email of ["v\u0130ctim@corp.test", "vict\u0131m@corp.test", "victim@corp.te\u017ft"]) {
      expect(await attempt({ email })).toEqual({ kind: "refused" });
    }
    const { rows } = await database.pool.query("select distinct attempt from login_attempts");
    expect(rows).toHaveLength(3);
    expect((await attempt({ email: "VICTIM@corp.test" })).kind).toBe("logged_in");
  });

  it("takes thirty guesses from an address, at whichever accounts", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => guess({ email: `person-${index}@example.com` })),
    );
    expect(outcomes.filter(({ kind }) => kind === "refused")).toHaveLength(30);
    expect((await guess({ email: "new@example.com", address: "192.0.2.1" })).kind).toBe("refused");
  });

  it("counts the addresses of one IPv6 network as one", async () => {
    for (let index = 1; index <= 30; index += 1)
      await guess({ address: `2001:db8::${index}`, email: `${index}@x.test` });
    expect((await guess({ address: "2001:db8::ffff", email: "last@x.test" })).kind).toBe("throttled");
  });

  it("forgets mistakes after a right password, and after a quarter of an hour", async () => {
    for (let index = 0; index < 9; index += 1) await guess({});
    expect((await attempt()).kind).toBe("logged_in");
    for (let index = 0; index < 10; index += 1) expect((await guess({})).kind).toBe("refused");
    expect((await guess({})).kind).toBe("throttled");
    await database.pool.query("update login_attempts set at = at - interval '15 minutes'");
    expect((await guess({})).kind).toBe("refused");
  });
});

it("does not let failures fill the audit log", async () => {
  await database.pool.query(
    "insert into audit_log (actor, action) select 'unknown', 'login.failed' from generate_series(1, 999)",
  );
  for (const email of ["a@x.test", "b@x.test", "c@x.test"]) await guess({ email });
  const { rows } = await database.pool.query("select count(*)::int as count from audit_log");
  expect(rows[0].count).toBe(1000);
});

it("keeps no password that was typed in the place of an address", async () => {
  await guess({ email: "hunter2hunter2" });
  const { rows } = await database.pool.query<{ all: string }>(
    "select login_attempts::text as all from login_attempts union all select audit_log::text from audit_log",
  );
  expect(rows.map((row) => row.all).join()).not.toContain("hunter2");
});

describe("a password's hash", () => {
  it("differs each time, and is taken for the password alone, however its accents are written", async () => {
    const [one, two] = [await passwords.hash("caf\u00e9 au lait, s\u2019il"), await passwords.hash("same")];
    expect(one).toMatch(/^scrypt\$32768\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
    expect(await passwords.hash("same")).not.toBe(two);
    expect(await passwords.isRight("cafe\u0301 au lait, s\u2019il", one)).toBe(true);
    expect(await passwords.isRight("cafe au lait", one)).toBe(false);
    expect(await passwords.isRight("", null)).toBe(false);
  });
});
