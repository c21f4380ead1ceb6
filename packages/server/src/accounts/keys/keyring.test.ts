import { hash } from "node:crypto";
import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Listener, startListener } from "../../db/listener.ts";
import { addProject } from "../projects/save-project.ts";
import { createSealer } from "../secrets.ts";
import { type CreateKeyInput, createKey, listKeys, newKey, revokeKey } from "./api-keys.ts";
import { createKeyring, type Keyring } from "./keyring.ts";

const log = createLogger({ level: "silent" });
const database = await createTestDatabase();
const { pool } = database;
const sealer = createSealer("x".repeat(32));
const project = await addProject(
  { db: pool, sealer },
  { name: "docs", forge: "github", repositoryUrl: "https://x.test/y" },
);
const here = { ip: "127.0.0.1" };
let listener: Listener;
let keyring: Keyring;

beforeAll(async () => {
  listener = await startListener({ url: database.url, log });
  keyring = createKeyring({ pool, listener, log });
});
afterAll(async () => {
  await keyring.close();
  await listener.close();
  await database.drop();
});

async function addKey(input: Partial<CreateKeyInput> = {}): Promise<{ id: string; key: string }> {
  const defaults = {
    name: "ci",
    projectIds: [project.id],
    scope: "write",
    expiresInMs: null,
    allowList: null,
    createdBy: "console",
  } as const;
  const outcome = await createKey(pool, { ...defaults, ...input });
  if (outcome.kind !== "created") throw new Error(outcome.kind);
  return outcome;
}

describe("what is stored", () => {
  test("a hash and a hint, and the secret nowhere", async () => {
    const { id, key } = await addKey({
      name: "release",
      scope: "read",
      allowList: ["10.0.0.0/8"],
      expiresInMs: 90 * 86_400_000,
    });
    const { rows } = await pool.query("select * from admin_keys where id = $1", [id]);
    const secret = key.slice(18, 48);
    expect(rows[0].secret_hash).toEqual(hash("sha256", secret, "buffer"));
    expect(JSON.stringify(rows[0])).not.toContain(secret);
    const [listed] = await listKeys(pool, { projectId: project.id });
    expect(listed).toMatchObject({
      id,
      hint: key.slice(0, 10),
      name: "release",
      scope: "read",
      allowList: ["10.0.0.0/8"],
      revokedAt: null,
    });
    expect(listed?.expiresAt?.getTime()).toBeGreaterThan(Date.now() + 89 * 86_400_000);
    expect(await listKeys(pool, { projectId: "other" })).toEqual([]);
  });

  test.each([
    ["no project", { projectIds: [] }],
    ["a life of nothing", { expiresInMs: 0 }],
    ["an allow-list that admits nobody", { allowList: [] }],
    ["an allow-list with a name in it", { allowList: ["office.test"] }],
  ])("not a key with %s", async (_name, input) => {
    await expect(addKey(input)).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("not a key for a project that is not there", async () => {
    await expect(addKey({ projectIds: [project.id, "prj_none"] })).rejects.toThrow("unknown_project");
  });
});

describe("a key", () => {
  test("grants its projects and scope, the second time without a query", async () => {
    const { id, key } = await addKey({ scope: "read" });
    const first = keyring.authenticate(key, here);
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toEqual({ keyId: id, projectIds: new Set([project.id]), scope: "read", isProgram: false });
    expect(keyring.authenticate(key, here)).toEqual(await first);
  });

  test("with a wrong secret is refused, remembered or not", async () => {
    const { id, key } = await addKey();
    const forged = newKey(id).text;
    expect(await keyring.authenticate(forged, here)).toBeNull();
    expect(await keyring.authenticate(key, here)).not.toBeNull();
    expect(keyring.authenticate(forged, here)).toBeNull();
  });

  test("with a wrong checksum is refused without a query", async () => {
    const { key } = await addKey();
    const wrong = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
    expect(keyring.authenticate(wrong, here)).toBeNull();
    await keyring.authenticate(key, here);
    expect(keyring.authenticate(wrong, here), "also where the key is remembered").toBeNull();
  });

  test("stops at its expiry, by the database's clock, also while it is remembered", async () => {
    let nowMs = 1_000_000;
    const timed = createKeyring({ pool, listener, log, now: () => nowMs });
    const { key } = await addKey({ expiresInMs: 60_000 });
    expect(await timed.authenticate(key, here)).not.toBeNull();
    nowMs += 59_000;
    expect(timed.authenticate(key, here)).not.toBeNull();
    nowMs += 1_001;
    expect(timed.authenticate(key, here)).toBeNull();
    await timed.close();
  });

  test("works from its allow-list alone", async () => {
    const { key } = await addKey({ allowList: ["192.0.2.0/24"] });
    expect(await keyring.authenticate(key, { ip: "192.0.2.9" })).not.toBeNull();
    expect(await keyring.authenticate(key, { ip: "::ffff:192.0.2.9" })).not.toBeNull();
    expect(await keyring.authenticate(key, here)).toBeNull();
  });

  test("notes its last use, and again not before a minute has passed", async () => {
    let nowMs = 1_000_000;
    const timed = createKeyring({ pool, listener, log, now: () => nowMs });
    const { id, key } = await addKey();
    const lastUse = async () =>
      (await pool.query("select last_used_at as at from admin_keys where id = $1", [id])).rows[0].at;
    expect(await lastUse()).toBeNull();
    await timed.authenticate(key, here);
    await expect.poll(lastUse).not.toBeNull();
    await pool.query("update admin_keys set last_used_at = last_used_at - interval '1 hour' where id = $1", [id]);
    const first = await lastUse();
    nowMs += 59_000;
    await timed.authenticate(key, here);
    await timed.close();
    expect(await lastUse()).toEqual(first);
    nowMs += 1_000;
    await timed.authenticate(key, here);
    await timed.close();
    expect((await lastUse()).getTime()).toBeGreaterThan(first.getTime());
  });
});

describe("revocation", () => {
  test("reaches a node that remembers the key", async () => {
    const { id, key } = await addKey();
    await keyring.authenticate(key, here);
    expect(await revokeKey(pool, id)).toEqual({ kind: "revoked" });
    await expect.poll(() => keyring.authenticate(key, here), { interval: 5 }).toBeNull();
    expect(await revokeKey(pool, id)).toEqual({ kind: "revoked_before" });
    expect(await revokeKey(pool, "none")).toEqual({ kind: "unknown_key" });
  });

  test("reaches a node whose listening connection is half open", async () => {
    const proxy = await startDatabaseProxy(database.url);
    const deaf = await startListener({ url: proxy.url, log });
    const apart = createKeyring({ pool, listener: deaf, log });
    const { id, key } = await addKey();
    await apart.authenticate(key, here);
    proxy.silence();
    await revokeKey(pool, id);
    // The listener notices a lost connection within a second.
    await expect.poll(() => deaf.isFresh(), { interval: 20 }).toBe(false);
    expect(await apart.authenticate(key, here)).toBeNull();
    await apart.close();
    await proxy.close();
    await deaf.close();
  });
});

describe("failures", () => {
  test("are throttled by address: guesses then share a query, and a good key behind that address still gets in", async () => {
    const queries: unknown[] = [];
    const counting = {
      query(query: { name?: string; values?: unknown[] }) {
        if (query.name === "load-keys") queries.push(query.values?.[0]);
        return pool.query(query as never);
      },
    } as unknown as typeof pool;
    const own = createKeyring({ pool: counting, listener, log });
    const { id, key } = await addKey();
    const attacker = { ip: "198.51.100.7" };
    for (let n = 0; n < 30; n += 1) expect(await own.authenticate(newKey().text, attacker)).toBeNull();
    expect(queries).toHaveLength(30);

    const guesses = Array.from({ length: 50 }, () => own.authenticate(newKey().text, attacker));
    const good = own.authenticate(key, attacker);
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([null]));
    expect(await good).toMatchObject({ keyId: id });
    expect(queries.slice(30), "fifty guesses and a good key, asked for together").toEqual([
      expect.objectContaining({ length: 51 }),
    ]);
    expect(own.authenticate(key, attacker), "remembered from then on").toMatchObject({ keyId: id });
    await own.close();
  });

  test("2,000 wrong keys from 2,000 addresses open nothing, and what is counted stays bounded", async () => {
    const own = createKeyring({ pool, listener, log });
    const { id } = await addKey();
    for (let n = 0; n < 2000; n += 50) {
      const tries = Array.from({ length: 50 }, (_, i) => {
        const wrong = i % 3 === 0 ? newKey(id).text : i % 3 === 1 ? newKey().text : `emend_${"x".repeat(i)}`;
        return own.authenticate(wrong, { ip: `10.${(n + i) >> 8}.${(n + i) & 255}.1` });
      });
      expect(new Set(await Promise.all(tries))).toEqual(new Set([null]));
    }
    expect(own.throttledAddresses).toBeLessThanOrEqual(2000);
    await own.close();
  });
});
