import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type FarGrants, startFarGrants } from "@emend/testkit/knowledge-grants.ts";
import { listen } from "@emend/testkit/listen.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Pool } from "../../db/pool.ts";
import { createSealer } from "../secrets.ts";
import {
  connectKnowledgeServer,
  finishConnection,
  knowledgeTokenOf,
  openKnowledgeSecrets,
} from "./knowledge-grants.ts";
import { addKnowledgeServer, findKnowledgeServer } from "./knowledge-servers.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const sealer = createSealer("a secret of thirty-two characters");
const publicUrl = "http://emend.test";

async function prepare(options: Parameters<typeof startFarGrants>[1] = {}) {
  const far = await startFarGrants([{ name: "search", answer: () => "x" }], options);
  stops.push(far.stop);
  return { far, ...(await added(far.knowledge.url)) };
}

async function added(url: string) {
  const deps = { pool: database.pool, sealer, fetch: globalThis.fetch, publicUrl };
  const at = { projectId: await seedProject(database.pool), name: "notion" };
  await addKnowledgeServer(deps, { ...at, url, credential: null });
  const server = await findKnowledgeServer(database.pool, at);
  const access = async () => (await findKnowledgeServer(database.pool, at)).access;
  return { deps, server, access, token: knowledgeTokenOf(deps, server.id) };
}

const secretsOf = (id: string) => openKnowledgeSecrets({ db: database.pool, sealer }, id);

/** What a person's browser brings back. */
async function answerOf(far: FarGrants, location: string) {
  const back = await far.agree(location);
  const { searchParams } = new URL(back);
  const state = searchParams.get("state") ?? "";
  return { state, code: searchParams.get("code"), issuer: searchParams.get("iss") ?? undefined };
}

async function connected(options: Parameters<typeof prepare>[0] = {}) {
  const made = await prepare(options);
  const location = await connectKnowledgeServer(made.deps, made.server);
  await finishConnection(made.deps, await answerOf(made.far, location));
  return made;
}

test("a person gives access once, and it is stored encrypted", async () => {
  const { far, deps, server, access, token } = await prepare();
  const location = await connectKnowledgeServer(deps, server);
  expect(Object.fromEntries(new URL(location).searchParams)).toMatchObject({
    code_challenge_method: "S256",
    redirect_uri: "http://emend.test/knowledge/return",
    resource: far.knowledge.url,
    scope: "read",
  });
  expect(await access()).toBe("none");
  const answer = await answerOf(far, location);
  expect(await finishConnection(deps, answer)).toEqual({ name: "notion" });
  expect(await access()).toBe("oauth");
  const given = await token();
  expect(given).toMatch(/\S{20}/);
  expect(await secretsOf(server.id)).toEqual(expect.arrayContaining([given]));
  const { rows } = await database.pool.query("select oauth from knowledge_servers where id = $1", [server.id]);
  expect(rows[0].oauth.toString("latin1")).not.toContain(given);
  // The same answer again.
  await expect(finishConnection(deps, answer)).rejects.toMatchObject({ code: "not_found" });
  expect(await token()).toBe(given);
});

test.each([[""], ["\0"], ["kno_none.x"], [`${"k".repeat(70)}.x`]])(
  "an answer that nobody waits for is refused: %j",
  async (state) => {
    const deps = { pool: database.pool, sealer, fetch: globalThis.fetch, publicUrl };
    const finishing = finishConnection(deps, { state, code: "code", issuer: undefined });
    await expect(finishing).rejects.toMatchObject({ code: "not_found" });
  },
);

test("an answer for a server that is removed meanwhile connects nothing, and the audit log does not say so", async () => {
  const { far, deps, server } = await prepare();
  const answer = await answerOf(far, await connectKnowledgeServer(deps, server));
  const fetch: typeof globalThis.fetch = async (...request) => {
    await database.pool.query("delete from knowledge_servers where id = $1", [server.id]);
    return globalThis.fetch(...request);
  };
  await expect(finishConnection({ ...deps, fetch }, answer)).rejects.toMatchObject({ code: "not_found" });
  const { rows } = await database.pool.query(
    "select from audit_log where action = 'knowledge.connected' and target = $1",
    [server.projectId],
  );
  expect(rows).toEqual([]);
});

test("an id that the service's owner registered is used with its secret", async () => {
  const { far, deps, server, token } = await prepare();
  const client = { id: "registered-by-hand", secret: "secret-of-the-client-0123456789" };
  const onLoopback = { ...deps, publicUrl: "http://127.0.0.1" };
  const location = await connectKnowledgeServer(onLoopback, server, client);
  expect(new URL(location).searchParams.get("client_id")).toBe("registered-by-hand");
  await finishConnection(onLoopback, await answerOf(far, location));
  expect(await token()).not.toBeNull();
  expect(await secretsOf(server.id)).toContain(client.secret);
});

test("an answer counts once, although two nodes get it together", async () => {
  const { far, deps, server, token } = await prepare();
  const answer = await answerOf(far, await connectKnowledgeServer(deps, server));
  const pool = readTogether(database.pool, 2);
  const both = await Promise.allSettled([1, 2].map(() => finishConnection({ ...deps, pool }, answer)));
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(both.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
  expect(await token()).not.toBeNull();
});

/** Lets the first reads through when all of them are there. */
function readTogether(pool: Pool, count: number): Pool {
  let waiting: (() => void)[] = [];
  const query = async (...args: Parameters<Pool["query"]>) => {
    const read = await pool.query(...args);
    if (!String(args[0]).includes("connecting as sealed")) return read;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length < count) return;
      for (const go of waiting) go();
      waiting = [];
    });
    return read;
  };
  return new Proxy(pool, { get: (target, name) => (name === "query" ? query : Reflect.get(target, name, target)) });
}

test.each([
  ["another state", { state: "other" }],
  ["no state", { state: "" }],
])("an answer with %s is not taken, and the right one still is", async (_, wrong) => {
  const { far, deps, server, access } = await prepare();
  const answer = await answerOf(far, await connectKnowledgeServer(deps, server));
  const other = { ...answer, state: wrong.state && `${server.id}.${wrong.state}` };
  await expect(finishConnection(deps, other)).rejects.toMatchObject({ code: "not_found" });
  expect(await access()).toBe("none");
  await finishConnection(deps, answer);
  expect(await access()).toBe("oauth");
});

test("a newer link replaces an older one, and a link ends after 15 minutes", async () => {
  const { far, deps, server, access } = await prepare();
  const first = await answerOf(far, await connectKnowledgeServer(deps, server));
  const second = await answerOf(far, await connectKnowledgeServer(deps, server));
  await expect(finishConnection(deps, first)).rejects.toMatchObject({ code: "not_found" });
  const { now } = Date;
  Date.now = () => now() + 15 * 60_000;
  try {
    await expect(finishConnection(deps, second)).rejects.toMatchObject({ code: "not_found" });
  } finally {
    Date.now = now;
  }
  expect(await access()).toBe("none");
});

test("an answer of another authorization server is not taken", async () => {
  const { far, deps, server, access } = await prepare();
  const answer = await answerOf(far, await connectKnowledgeServer(deps, server));
  const mixed = finishConnection(deps, { ...answer, issuer: "https://other.test" });
  await expect(mixed).rejects.toMatchObject({ message: "did not accept the answer" });
  expect(far.asked.code).toBe(0);
  expect(await access()).toBe("none");
});

test("a person who refuses gives nothing", async () => {
  const { far, deps, server, access } = await prepare();
  const { state } = await answerOf(far, await connectKnowledgeServer(deps, server));
  await expect(finishConnection(deps, { state, code: null, issuer: undefined })).rejects.toMatchObject({
    publicMessage: "access was not allowed",
  });
  expect(await access()).toBe("none");
});

test("one node renews a token that the server refuses, and the others use what it got", async () => {
  const { far, deps, token, server } = await connected();
  const before = (await token()) as string;
  far.expire();
  const others = [1, 2, 3, 4].map(() => knowledgeTokenOf(deps, server.id));
  const after = await Promise.all(others.map((one) => one(before)));
  expect(new Set(after).size).toBe(1);
  expect(after[0]).not.toBe(before);
  expect(far.asked.renewal).toBe(1);
  // The token that renews was replaced as well.
  expect(await token(after[0] as string)).not.toBe(after[0]);
});

test("a token is renewed before it ends", async () => {
  const { far, token } = await connected({ livesSeconds: 29 });
  await token();
  expect(far.asked.renewal).toBe(1);
});

test("a renewal that a dead node began is taken over once its lease has ended", async () => {
  const { far, token, server } = await connected({ livesSeconds: 29 });
  const lease = "update knowledge_servers set renewing_until = clock_timestamp() - interval '1 ms' where id = $1";
  await database.pool.query(lease, [server.id]);
  await token();
  expect(far.asked.renewal).toBe(1);
});

test("whoever is late with a renewal does not replace what a person connected meanwhile", async () => {
  const { far, deps, server } = await connected({ livesSeconds: 29 });
  const answer = await answerOf(far, await connectKnowledgeServer(deps, server));
  let newer: readonly string[] = [];
  const slow: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    await finishConnection(deps, answer);
    newer = await secretsOf(server.id);
    return response;
  };
  await knowledgeTokenOf({ ...deps, fetch: slow }, server.id)();
  expect(far.asked).toEqual({ code: 2, renewal: 1 });
  expect(newer).toHaveLength(2);
  expect(await secretsOf(server.id)).toEqual(newer);
});

test("access that was ended at the service needs a person again", async () => {
  const { far, token, deps, server } = await connected();
  const before = (await token()) as string;
  await far.revoke();
  const needed = { name: "ConnectionNeeded", message: "must be connected again" };
  await expect(token(before)).rejects.toMatchObject(needed);
  await finishConnection(deps, await answerOf(far, await connectKnowledgeServer(deps, server)));
  expect(await token()).not.toBe(before);
});

test("a service that is away is asked again later, without a person", async () => {
  const { far, token } = await connected();
  const before = (await token()) as string;
  far.isAway = true;
  await expect(token(before)).rejects.toMatchObject({ message: "could not renew its access now" });
  far.isAway = false;
  expect(await token(before)).not.toBe(before);
});

/** A server whose authorization server says what a test wants. */
async function hostile(about: (own: string) => Record<string, unknown>) {
  const far = await listen((request, response) => {
    request.resume();
    const { url = "" } = request;
    if (url.includes("protected-resource")) {
      return void response.end(JSON.stringify({ resource: far.url, authorization_servers: [far.url] }));
    }
    if (url.includes("oauth-authorization-server")) {
      const endpoints = { authorization_endpoint: `${far.url}/ask`, token_endpoint: `${far.url}/token` };
      const usual = { issuer: far.url, ...endpoints, registration_endpoint: `${far.url}/register` };
      const more = { response_types_supported: ["code"], code_challenge_methods_supported: ["S256"] };
      return void response.end(JSON.stringify({ ...usual, ...more, ...about(far.url) }));
    }
    if (url === "/register") {
      const client = { client_id: "one", redirect_uris: [`${publicUrl}/knowledge/return`] };
      return void response.writeHead(201).end(JSON.stringify(client));
    }
    response.writeHead(401).end();
  });
  stops.push(far.stop);
  return added(far.url);
}

test.each<[string, Record<string, unknown>]>([
  ["a script", { authorization_endpoint: "javascript:alert(1)" }],
  ["a file", { authorization_endpoint: "file:///etc/passwd" }],
  ["another issuer", { issuer: "https://other.test" }],
  ["no proof of the asker", { code_challenge_methods_supported: ["plain"] }],
])("a server that names %s is not connected", async (_, about) => {
  const { deps, server, access } = await hostile(() => about);
  await expect(connectKnowledgeServer(deps, server)).rejects.toMatchObject({ name: "KnowledgeFault" });
  expect(await access()).toBe("none");
});

test("a hostile server that names usual things is connected, so that the refusals above are no accident", async () => {
  const { deps, server } = await hostile((own) => ({ authorization_endpoint: `${own}/ask` }));
  expect(await connectKnowledgeServer(deps, server)).toContain("/ask?");
});
