// Costly: access ends on a second process, which only the database tells.
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { openEventSource } from "@emend/testkit/event-source.ts";
import { freePort } from "@emend/testkit/listen.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { nodeEnvironment } from "@emend/testkit/server.ts";
import { spawnServing } from "@emend/testkit/spawn-process.ts";
import { afterAll, expect, test } from "vitest";
import { setDirectorySettings } from "../src/accounts/directory/directory-access.ts";
import { createDirectoryToken } from "../src/accounts/directory/directory-tokens.ts";
import { createKey, newKey } from "../src/accounts/keys/api-keys.ts";
import { type LoginWay, openSession } from "../src/accounts/sessions/session-store.ts";
import { consoleActor } from "../src/db/transaction.ts";

// Two whole servers as separate processes on one database: something changes on one, and access ends on the other.
const database = await createTestDatabase();
const { pool } = database;
const dir = await mkdtemp(join(tmpdir(), "emend-directory-"));
const script = new URL("../../testkit/src/server-process.ts", import.meta.url);
const [near = 0, far = 0] = [await freePort(), await freePort()];
const servers = await Promise.all(
  [near, far].map((port) =>
    spawnServing(script, [], {
      ...nodeEnvironment,
      EMEND_DATABASE_URL: database.url,
      EMEND_SECRET: "the secret of a test, and of nothing else",
      EMEND_DATA_DIR: join(dir, String(port)),
      EMEND_FORGE_DIR: join(dir, "forge"),
      EMEND_LOG_LEVEL: "silent",
      EMEND_ROLE: "api",
      EMEND_PORT: String(port),
      EMEND_PUBLIC_URL: `http://127.0.0.1:${near}`,
      NODE_ENV: "test",
    }),
  ),
);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

const { token } = await createDirectoryToken(pool, { name: "Okta" }, consoleActor);
await pool.query("insert into users (id, email, name, role) values ('usr_owner', 'owner@emend.test', 'O', 'owner')");
await setDirectorySettings(
  pool,
  { defaultRole: null, groups: [{ name: "writers", role: "maintainer" }] },
  consoleActor,
);
const projectId = await seedProject(pool);
const jobId = await seedJob(pool, projectId);

async function scim(method: string, path: string, body?: unknown): Promise<{ id: string }> {
  const answer = await fetch(`http://127.0.0.1:${near}/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBeLessThan(300);
  const text = await answer.text();
  return text === "" ? { id: "" } : JSON.parse(text);
}

/** Everything by which the person reaches the other server. */
async function accessOf(email: string, how: LoginWay) {
  const { rows } = await pool.query<{ id: string }>("select id from users where email = $1", [email]);
  const userId = rows[0]?.id ?? "";
  const session = await openSession(pool, { userId, how, address: null, replaces: null });
  const about = {
    projectIds: [projectId],
    scope: "write",
    expiresInMs: null,
    allowList: null,
    createdBy: email,
  } as const;
  const key = await createKey(pool, { ...about, name: "ci" });
  const clientId = "https://program.test/client";
  const program = await createKey(pool, { ...about, name: "program", program: { userId, clientId } });
  if (key.kind !== "created" || program.kind !== "created") throw new Error("no key");
  const access = newKey();
  await pool.query(
    `insert into oauth_records (id, model, key_id, secret_hash, payload, expires_at)
     values ($1, 'AccessToken', $2, $3, '{}', clock_timestamp() + interval '1 hour')`,
    [access.id, program.id, createHash("sha256").update(access.secret).digest()],
  );
  const v2 = `http://127.0.0.1:${far}/v2/agent/${projectId}/job/${jobId}`;
  const ways: Record<string, { url: string; headers: Record<string, string> }> = {
    session: {
      url: `http://127.0.0.1:${far}/dashboard/api/jobs/${jobId}`,
      headers: { cookie: `emend_session=${session}` },
    },
    key: { url: v2, headers: { authorization: `Bearer ${key.key}` } },
    program: { url: v2, headers: { authorization: `Bearer ${access.text}` } },
  };
  return Object.entries(ways);
}

const newUser = (userName: string) => ({ schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"], userName });

test.each<[string, (ids: { person: string; group: string }) => Promise<unknown>]>([
  [
    "with active: false",
    ({ person }) => scim("PATCH", `/Users/${person}`, { Operations: [{ op: "replace", value: { active: false } }] }),
  ],
  ["with the person", ({ person }) => scim("DELETE", `/Users/${person}`)],
  ["with the group", ({ group }) => scim("DELETE", `/Groups/${group}`)],
])("access ends on the other server, open streams included: %s", { timeout: 60_000 }, async (what, end) => {
  const email = `ada.${what.replaceAll(/\W/g, "-")}@example.com`;
  const person = (await scim("POST", "/Users", newUser(email))).id;
  const group = (await scim("POST", "/Groups", { displayName: "Writers", members: [{ value: person }] })).id;
  const ways = await accessOf(email, "single sign-on");
  const streams = await Promise.all(ways.map(([, { url, headers }]) => openEventSource(`${url}/events`, headers)));
  for (const stream of streams) {
    expect(stream.status).toBe(200);
    expect(await stream.next()).toMatchObject({ event: "job.created" });
  }
  await end({ person, group });
  // A notice tells the other server, within a second.
  for (const [way, { url, headers }] of ways)
    await expect
      .poll(async () => [way, (await fetch(url, { headers })).status], { timeout: 5_000 })
      .toEqual([way, 401]);
  await Promise.all(streams.map((stream) => stream.rest()));
  if (what !== "with the group") await scim("DELETE", `/Groups/${group}`);
});

test("sessions of people without a second factor end once it is required, open streams included; keys and programs stay", {
  timeout: 60_000,
}, async () => {
  await pool.query("insert into users (id, email, name, role) values ('usr_bo', 'bo@emend.test', 'Bo', 'maintainer')");
  const [session, ...others] = await accessOf("bo@emend.test", "password");
  if (!session) throw new Error("no session");
  const { url, headers } = session[1];
  const stream = await openEventSource(`${url}/events`, headers);
  expect(await stream.next()).toMatchObject({ event: "job.created" });
  const console = await openSession(pool, { userId: null, how: "link", address: null, replaces: null });
  const origin = `http://127.0.0.1:${near}`;
  const answer = await fetch(`${origin}/dashboard/api/settings`, {
    method: "PATCH",
    headers: { origin, cookie: `emend_session=${console}`, "content-type": "application/json" },
    body: JSON.stringify({ secondFactorRequired: true }),
  });
  expect(answer.status).toBe(200);
  expect((await fetch(url, { headers })).status).toBe(401);
  await stream.rest();
  for (const [way, { url, headers }] of others) {
    expect([way, (await fetch(url, { headers })).status]).toEqual([way, 200]);
  }
});
