import { setTimeout } from "node:timers/promises";
import { type ApiAnswer, startApi } from "@emend/testkit/api.ts";
import { afterAll, describe, expect, test } from "vitest";
import { revokeKey } from "../../accounts/keys/api-keys.ts";
import { channels } from "../../db/listener.ts";

const api = await startApi();
afterAll(() => api.close());
const project = await api.addProject({ createsPerHourMax: 1000 });
const jobs = `/v2/agent/${project.id}/job`;
const key = await api.addKey(project);

async function newJob(): Promise<{ id: string; path: string }> {
  const { json } = await api.send(jobs, { method: "POST", key, body: { prompt: "x" } });
  const { id } = json as { id: string };
  return { id, path: `${jobs}/${id}` };
}

/** Does what the end of a run does: row and notification in one transaction. */
async function endJob(id: string, set = "status = 'completed', pr_link = 'https://github.test/pull/1'"): Promise<void> {
  await api.pool.query(
    `with changed as (update jobs set ${set} where id = $1 returning id) select pg_notify('${channels.jobChanged}', id) from changed`,
    [id],
  );
}

function get(path: string, headers: Record<string, string> = {}): Promise<ApiAnswer> {
  return api.send(path, { key, headers });
}

/** Resolves once the server holds a long poll: it has started and sent nothing. */
async function isHeld(answer: Promise<unknown>): Promise<boolean> {
  return Promise.race([answer.then(() => false), setTimeout(300, true)]);
}

describe("200", () => {
  test("an active job: nine fields, a hint when to ask again, never stored", async () => {
    const { id, path } = await newJob();
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      id,
      status: "active",
      source: { repository: "https://github.test/acme/docs", ref: `emend/${id}` },
      model: "emend/rules",
      prLink: null,
      createdAt: expect.any(String),
      archivedAt: null,
    });
    expect(answer.headers).toMatchObject({ "retry-after": "2", "cache-control": "no-store" });
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("text beyond ASCII arrives as it is, with its length in bytes", async () => {
    const { id, path } = await newJob();
    await endJob(id, "ref = 'größe/日本'");
    const answer = await get(path);
    expect(answer.json).toMatchObject({ source: { ref: "größe/日本" } });
    expect(Number(answer.headers["content-length"])).toBe(Buffer.byteLength(JSON.stringify(answer.json)));
  });

  test("no pull request is shown while the job is active, even if it has one", async () => {
    const { id, path } = await newJob();
    await endJob(id, "pr_link = 'https://github.test/pull/1'");
    expect((await get(path)).json).toMatchObject({ status: "active", prLink: null });
  });

  test("a change is seen at the next request, however often the job was read before", async () => {
    const { id, path } = await newJob();
    const before = await get(path);
    expect((await get(path)).headers.etag).toBe(before.headers.etag);
    await endJob(id);
    await expect.poll(async () => ((await get(path)).json as { status: string }).status).toBe("completed");
    const after = await get(path);
    expect(after.json).toMatchObject({ prLink: "https://github.test/pull/1" });
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expect(after.headers["retry-after"]).toBeUndefined();
  });

  test("HEAD is GET without the body", async () => {
    const { path } = await newJob();
    const [full, head] = [await get(path), await api.send(path, { method: "HEAD", key })];
    expect(head.status).toBe(200);
    expect(head.text).toBe("");
    const { date: _, "x-request-id": __, ...headers } = full.headers;
    expect(head.headers).toMatchObject(headers);
  });

  test("one trailing slash and a query make no difference", async () => {
    const { path } = await newJob();
    expect((await get(`${path}/`)).status).toBe(200);
    expect((await get(`${path}?x=%zz`)).status).toBe(200);
  });

  test("a read-only key may read, and the scheme's case does not matter", async () => {
    const { path } = await newJob();
    const reader = await api.addKey(project, { scope: "read" });
    expect((await api.send(path, { headers: { authorization: `bearer  ${reader}` } })).status).toBe(200);
  });
});

describe("304", () => {
  test("for a tag that still holds: alone, weak, in a list, or any", async () => {
    const { path } = await newJob();
    const etag = String((await get(path)).headers.etag);
    for (const seen of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const answer = await get(path, { "if-none-match": seen });
      expect(answer.status).toBe(304);
      expect(answer.headers.etag).toBe(etag);
      expect(answer.headers["content-type"]).toBeUndefined();
    }
    expect((await get(path, { "if-none-match": '"other"' })).status).toBe(200);
    expect((await api.send(path, { method: "HEAD", key, headers: { "if-none-match": etag } })).status).toBe(304);
  });
});

describe("Prefer: wait", () => {
  test("holds the answer until the job is final", async () => {
    const { id, path } = await newJob();
    const answer = get(path, { prefer: "respond-async, wait=30" });
    expect(await isHeld(answer)).toBe(true);
    await endJob(id);
    expect(await answer).toMatchObject({
      status: 200,
      json: { status: "completed" },
      headers: { "preference-applied": "wait=30" },
    });
  });

  test("with a tag, holds the answer until the job changes at all", async () => {
    const { id, path } = await newJob();
    const etag = String((await get(path)).headers.etag);
    const answer = get(path, { prefer: 'wait="30"', "if-none-match": etag });
    expect(await isHeld(answer)).toBe(true);
    await endJob(id, "model = 'acme/two'");
    expect(await answer).toMatchObject({ status: 200, json: { status: "active", model: "acme/two" } });
  });

  test("sees a change whose notice was lost", async () => {
    const { id, path } = await newJob();
    // Not fresh, so the cache is not used, and no notification comes: only polling helps.
    const listener = { ...api.listener, isFresh: () => false, on: () => () => {} };
    const deaf = await startApi({ databaseUrl: api.database.url, listener });
    const answer = deaf.send(path, { key, headers: { prefer: "wait=30" } });
    expect(await isHeld(answer)).toBe(true);
    await api.pool.query("update jobs set status = 'completed' where id = $1", [id]);
    expect((await answer).json).toMatchObject({ status: "completed" });
    await deaf.close();
  });

  test("answers 304 when the time is up and nothing changed", async () => {
    const { path } = await newJob();
    const etag = String((await get(path)).headers.etag);
    const answer = await get(path, { prefer: "wait=1", "if-none-match": etag });
    expect(answer).toMatchObject({ status: 304, headers: { "preference-applied": "wait=1" } });
  });

  test("answers at once for a final job, an outdated tag, an unknown job and a wait that makes no sense", async () => {
    const { id, path } = await newJob();
    expect((await get(path, { prefer: "wait=30", "if-none-match": '"other"' })).status).toBe(200);
    expect((await get(path, { prefer: "wait=soon" })).headers["preference-applied"]).toBeUndefined();
    expect((await get(path, { prefer: "return=minimal" })).headers["preference-applied"]).toBeUndefined();
    await endJob(id);
    const final = await get(path, { prefer: "wait=1000" });
    expect(final).toMatchObject({ status: 200, headers: { "preference-applied": "wait=55" } });
  });

  test("ends with 401 when the key is revoked meanwhile", async () => {
    const { id, path } = await newJob();
    const other = await api.addKey(project);
    const answer = api.send(path, { key: other, headers: { prefer: "wait=30" } });
    expect(await isHeld(answer)).toBe(true);
    await revokeKey(api.pool, other.slice(6, 18));
    await endJob(id);
    expect((await answer).status).toBe(401);
  });

  test("lets everyone go when the server closes, and no new one wait", async () => {
    const closing = await startApi({ databaseUrl: api.database.url });
    const { path } = await newJob();
    const answer = closing.send(path, { key, headers: { prefer: "wait=50" } });
    expect(await isHeld(answer)).toBe(true);
    const closed = closing.close();
    expect(await answer).toMatchObject({ status: 200, json: { status: "active" } });
    await closed;
  });
});

describe("404", () => {
  test("a project id that is over-long", async () => {
    expect((await get(`/v2/agent/${"x".repeat(9000)}/job/x`)).status).toBe(404);
  });

  test.each([
    ["unknown", "job_0123"],
    ["over-long", "x".repeat(5000)],
    ["undecodable", "%zz"],
    ["holding U+0000", "job%00"],
    ["holding a slash", "a%2Fb"],
    ["of invalid UTF-8", "%ff"],
    ["two dots", "%2e%2e"],
  ])("an id that is %s", async (_name, id) => {
    const answer = await get(`${jobs}/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.headers["emend-error"]).toBe("not_found");
    expect((await get(`${jobs}/${id}`, { prefer: "wait=30" })).status).toBe(404);
  });

  test("a job of another project, although the key covers both", async () => {
    const other = await api.addProject();
    const both = await api.addKey(project, { projectIds: [project.id, other.id] });
    const { id, path } = await newJob();
    expect((await api.send(path, { key: both })).status).toBe(200);
    const answer = await api.send(`/v2/agent/${other.id}/job/${id}`, { key: both });
    expect(answer.status).toBe(404);
    expect(answer.text).toBe((await get(`${jobs}/job_0123`)).text);
    const waited = api.send(`/v2/agent/${other.id}/job/${id}`, { key: both, headers: { prefer: "wait=30" } });
    expect(await isHeld(waited), "nor can it be told by waiting").toBe(false);
    expect((await waited).status).toBe(404);
  });
});

describe("401", () => {
  test("one identical answer for every reason", async () => {
    const { path } = await newJob();
    const revoked = await api.addKey(project);
    await revokeKey(api.pool, revoked.slice(6, 18));
    const expired = await api.addKey(project, { expiresInMs: 1 });
    const elsewhere = await api.addKey(project, { allowList: ["10.0.0.0/8", "2001:db8::/32"] });
    const wrongSecret = (await api.addKey(project)).slice(0, 18) + (await api.addKey(project)).slice(18);
    const authorizations = [
      "",
      "Bearer",
      "Bearer x",
      `Basic ${btoa(`x:${key}`)}`,
      `Token ${key}`,
      `Bearer ${key}x`,
      key,
    ];
    const keys = [revoked, expired, elsewhere, wrongSecret, key.slice(0, -1), key.toUpperCase()];
    const answers = await Promise.all([
      api.send(path),
      ...authorizations.map((authorization) => api.send(path, { headers: { authorization } })),
      ...keys.map((bad) => api.send(path, { key: bad })),
      api.send(`${path}x`),
      api.send("/v2/agent/none/job/none"),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const withoutDate = answers.map(({ headers: { date: _, "x-request-id": __, ...rest } }) => JSON.stringify(rest));
    expect(new Set(withoutDate).size).toBe(1);
    expect(answers[0]?.headers["www-authenticate"]).toBe("Bearer");
  });
});
