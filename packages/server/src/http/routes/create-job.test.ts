import { startApi } from "@emend/testkit/api.ts";
import { afterAll, describe, expect, test } from "vitest";

const api = await startApi({ promptCodePointsMax: 1000 });
afterAll(() => api.close());
const project = await api.addProject({
  model: "acme/one",
  models: ["acme/two"],
  branchPrefix: "docs/bot",
  createsPerHourMax: 1000,
});
const path = `/v2/agent/${project.id}/job`;
const key = await api.addKey(project);

function create(body: unknown, headers: Record<string, string> = {}) {
  return api.send(path, { method: "POST", key, body, headers });
}

async function jobRow(id: string) {
  const { rows } = await api.pool.query("select * from jobs where id = $1", [id]);
  return rows[0];
}

async function countJobs(): Promise<number> {
  const { rows } = await api.pool.query("select count(*)::int as n from jobs");
  return rows[0].n;
}

describe("201", () => {
  test("the nine fields and no other, active, at the address in Location", async () => {
    const answer = await create({ prompt: "Fix the typo." });
    expect(answer.status).toBe(201);
    const job = answer.json as { id: string; createdAt: string };
    expect(job).toEqual({
      id: expect.stringMatching(/^job_[0-9a-z]{23}$/),
      status: "active",
      source: { repository: "https://github.test/acme/docs", ref: `docs/bot/${job.id}` },
      model: "acme/one",
      prLink: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      archivedAt: null,
    });
    expect(answer.headers.location).toBe(`https://emend.test/base/v2/agent/${project.id}/job/${job.id}`);
    expect(Math.abs(Date.parse(job.createdAt) - Date.now())).toBeLessThan(60_000);
    expect((await api.send(`${path}/${job.id}`, { key })).text).toBe(answer.text);
  });

  test("the row is queued and due, with its first event and its use of the quota", async () => {
    const before = Number((await create({ prompt: "before" })).headers["x-ratelimit-remaining"]);
    const answer = await create({ prompt: "Ünïcödé 😀" });
    const { id } = answer.json as { id: string };
    expect(await jobRow(id)).toMatchObject({
      prompt: "Ünïcödé 😀",
      phase: "queued",
      status: "active",
      lease: null,
      event_seq: 1,
    });
    const events = await api.pool.query("select seq, kind from job_events where job_id = $1", [id]);
    expect(events.rows).toEqual([{ seq: 1, kind: "job.created" }]);
    expect(Number(answer.headers["x-ratelimit-remaining"])).toBe(before - 1);
  });

  test("with the optional fields, a cost limit that only lowers, and unknown fields ignored", async () => {
    const body = {
      prompt: "x",
      baseRef: "release/2.x",
      model: "acme/two",
      draft: true,
      maxCostUsd: 0.5,
      later: { x: 1 },
    };
    const { id, model } = (await create(body)).json as { id: string; model: string };
    expect(model).toBe("acme/two");
    expect(await jobRow(id)).toMatchObject({
      base_ref: "release/2.x",
      draft: true,
      max_cost_usd: 0.5,
      model: "acme/two",
    });
    const { id: other } = (await create({ prompt: "x", maxCostUsd: 1e6 })).json as { id: string };
    expect(await jobRow(other)).toMatchObject({ max_cost_usd: 2, base_ref: null, draft: null });
  });

  test.each([
    ["one space", " "],
    ["as many code points as are allowed, of two units each", "😀".repeat(1000)],
    ["line feeds, tabs and markup", "a\n\tb <script> \u202e \\ \" '"],
  ])("a prompt of %s", async (_name, prompt) => {
    const answer = await create({ prompt });
    expect(answer.status).toBe(201);
    expect(await jobRow((answer.json as { id: string }).id)).toMatchObject({ prompt });
  });

  test.each([
    ["duplicate fields, of which the last counts", '{"prompt":5,"prompt":"last"}', "last"],
    [
      "__proto__ and constructor as fields",
      '{"__proto__":{"draft":1},"constructor":{"prototype":{}},"prompt":"p"}',
      "p",
    ],
    ["a byte order mark", '\ufeff{"prompt":"p"}', "p"],
    ["escapes", '{"prompt":"\\u00fc\\ud83d\\ude00"}', "ü😀"],
  ])("a body with %s", async (_name, body, prompt) => {
    const answer = await create(body, { "content-type": "Application/JSON; charset=utf-8" });
    expect(answer.status).toBe(201);
    expect(await jobRow((answer.json as { id: string }).id)).toMatchObject({ prompt });
  });

  test("one trailing slash makes no difference", async () => {
    expect((await api.send(`${path}/`, { method: "POST", key, body: { prompt: "x" } })).status).toBe(201);
  });

  test("a client that waits for 100 Continue is asked for its body", async () => {
    expect((await create({ prompt: "x" }, { expect: "100-continue" })).status).toBe(201);
    expect((await create({ prompt: "x" }, { expect: "200-ok" })).status).toBe(201);
  });

  test("a body of 2 MiB exactly", async () => {
    const body = `{"prompt":"x","pad":"${"a".repeat(2 * 1024 * 1024 - 23)}"}`;
    expect(Buffer.byteLength(body)).toBe(2 * 1024 * 1024);
    expect((await create(body, { "content-type": "application/json" })).status).toBe(201);
  });
});

describe("400", () => {
  test.each<[string, unknown]>([
    ["no prompt", {}],
    ["a number for a prompt", { prompt: 5 }],
    ["null for a prompt", { prompt: null }],
    ["an array for a prompt", { prompt: ["x"] }],
    ["an empty prompt", { prompt: "" }],
    ["one code point too many", { prompt: "😀".repeat(1001) }],
    ["many times too many characters", { prompt: "x".repeat(150_000) }],
    ["U+0000 in the prompt", { prompt: "a\u0000b" }],
    ["an array", [{ prompt: "x" }]],
    ["a prompt in the prototype only", '{"__proto__":{"prompt":"x"}}'],
    ["a lone surrogate in the prompt", '{"prompt":"\\ud800"}'],
    ["null", "null"],
    ["a string", '"prompt"'],
    ["malformed JSON", '{"prompt":"x"'],
    ["nothing, said to be JSON", ""],
    ["bytes that are not UTF-8", Buffer.from('{"prompt":"\xff\xfe"}', "latin1")],
    ["a model that the project does not allow", { prompt: "x", model: "acme/three" }],
    ["a model of another type", { prompt: "x", model: 1 }],
    ["a base that is no branch name", { prompt: "x", baseRef: "a..b" }],
    ["a base that looks like an option", { prompt: "x", baseRef: "--upload-pack=x" }],
    ["a base of more than 200 bytes", { prompt: "x", baseRef: "ü".repeat(101) }],
    ["an empty base", { prompt: "x", baseRef: "" }],
    ["a base of another type", { prompt: "x", baseRef: null }],
    ["draft as text", { prompt: "x", draft: "true" }],
    ["a negative cost", { prompt: "x", maxCostUsd: -1 }],
    ["a cost beyond numbers", '{"prompt":"x","maxCostUsd":1e999}'],
    ["a cost as text", { prompt: "x", maxCostUsd: "1" }],
  ])("%s, and nothing changes", async (_name, body) => {
    const before = await countJobs();
    const answer = await create(body, { "content-type": "application/json" });
    expect(answer.status).toBe(400);
    expect(answer.headers["emend-error"]).toBe("invalid_request");
    expect(answer.json).toEqual({ error: expect.stringMatching(/\.$/) });
    expect(await countJobs()).toBe(before);
  });

  test("a misspelled prompt, with what was probably meant", async () => {
    const words = "`prompt` is required. The body has `promt`; did you mean `prompt`?";
    expect((await create({ promt: "x" })).json).toEqual({ error: words });
    expect((await create({ prefix: "x" })).json).toEqual({ error: "`prompt` is required." });
  });

  test("no body at all", async () => {
    expect((await api.send(path, { method: "POST", key })).status).toBe(400);
  });

  test.each([
    ["over-long", "k".repeat(256)],
    ["empty", ""],
  ])("an idempotency key that is %s", async (_name, value) => {
    expect((await create({ prompt: "x" }, { "idempotency-key": value })).status).toBe(400);
  });
});

describe("401, 404, 403: in this order, before the body is read", () => {
  const hopeless = { method: "POST", body: "{", headers: { "content-type": "text/plain" } };

  test("401 without a key, for any project and body", async () => {
    expect((await api.send(path, hopeless)).status).toBe(401);
    expect((await api.send("/v2/agent/none/job", { ...hopeless, key: "emend_x" })).status).toBe(401);
  });

  test("404 for a project that the key does not cover or that is not there, even to a read-only key", async () => {
    const other = await api.addProject();
    const reader = await api.addKey(project, { scope: "read" });
    const foreign = await api.send(`/v2/agent/${other.id}/job`, { ...hopeless, key: reader });
    const absent = await api.send("/v2/agent/none/job", { ...hopeless, key: reader });
    expect([foreign.status, absent.status]).toEqual([404, 404]);
    expect(foreign.text).toBe(absent.text);
  });

  test("404 for a project that was removed after its key was made", async () => {
    const gone = await api.addProject();
    const goneKey = await api.addKey(gone);
    await api.pool.query("delete from projects where id = $1", [gone.id]);
    const answer = await api.send(`/v2/agent/${gone.id}/job`, { ...hopeless, key: goneKey });
    expect([answer.status, answer.text]).toEqual([404, '{"error":"Project not found."}']);
  });

  test("403 for a read-only key, for any body", async () => {
    const reader = await api.addKey(project, { scope: "read" });
    const answer = await api.send(path, { ...hopeless, key: reader });
    expect(answer.status).toBe(403);
    expect(answer.headers["emend-error"]).toBe("forbidden");
  });

  test("401 although the body that was announced never comes", async () => {
    const headers = { "content-type": "application/json", "content-length": "1000000", expect: "100-continue" };
    expect((await api.send(path, { method: "POST", headers })).status).toBe(401);
  });
});

describe("413", () => {
  const big = `{"prompt":"${"x".repeat(2 * 1024 * 1024)}"}`;

  test("a body over 2 MiB", async () => {
    const answer = await create(big, { "content-type": "application/json" });
    expect(answer.status).toBe(413);
    expect(answer.headers["emend-error"]).toBe("payload_too_large");
  });

  test("a body over 2 MiB that does not say how long it is", async () => {
    const headers = { "content-type": "application/json", "transfer-encoding": "chunked" };
    const answer = await fetch(`${api.url}${path}`, {
      method: "POST",
      headers: { "content-type": headers["content-type"], authorization: `Bearer ${key}` },
      body: new Blob([big]).stream(),
      duplex: "half",
    } as RequestInit);
    expect(answer.status).toBe(413);
    await answer.text();
  });
});

describe("415", () => {
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonx",
    "application/json-patch+json",
    "application/vnd.api+json",
    "application",
    "application/json, text/plain",
    "text/json",
  ])("a body of %s, however large", async (type) => {
    const answer = await create(`{"prompt":"${"x".repeat(3_000_000)}"}`, { "content-type": type });
    expect(answer.status).toBe(415);
    expect(answer.headers["emend-error"]).toBe("unsupported_media_type");
  });

  test("a body without a type", async () => {
    expect((await create('{"prompt":"x"}')).status).toBe(415);
  });

  test("a compressed body", async () => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    expect((await create('{"prompt":"x"}', headers)).status).toBe(415);
  });
});

describe("409 and replays", () => {
  test("the same key and body give the first answer again, byte for byte, and count once", async () => {
    const headers = { "idempotency-key": "k".repeat(255) };
    const first = await create({ prompt: "once", draft: false }, headers);
    const again = await create('{ "draft":false, "unheard":1,\n"prompt":"once" }', {
      ...headers,
      "content-type": "application/json",
    });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(again.headers.location).toBe(first.headers.location);
    expect(again.headers["x-ratelimit-remaining"]).toBe(first.headers["x-ratelimit-remaining"]);
    expect(first.headers["idempotent-replayed"]).toBeUndefined();
    expect(again.headers["idempotent-replayed"]).toBe("true");
  });

  test("the first answer is replayed although the job has moved on", async () => {
    const headers = { "idempotency-key": "moved" };
    const first = await create({ prompt: "x" }, headers);
    const { id } = first.json as { id: string };
    await api.send(`${path}/${id}/archive`, { method: "POST", key });
    expect((await create({ prompt: "x" }, headers)).text).toBe(first.text);
  });

  test("409 for another body, and nothing is created", async () => {
    const headers = { "idempotency-key": "other" };
    await create({ prompt: "one" }, headers);
    const before = await countJobs();
    const others = [{ draft: true }, { model: "acme/one" }, { preview: true }, { maxCostUsd: 0.5 }];
    for (const body of [{ prompt: "two" }, ...others.map((other) => ({ prompt: "one", ...other }))]) {
      const answer = await create(body, headers);
      expect(answer.status).toBe(409);
      expect(answer.headers["emend-error"]).toBe("conflict");
    }
    expect(await countJobs()).toBe(before);
  });

  test("400 comes before a replay", async () => {
    const headers = { "idempotency-key": "bad" };
    await create({ prompt: "x" }, headers);
    expect((await create({ prompt: "" }, headers)).status).toBe(400);
  });

  test("a key belongs to its project", async () => {
    const other = await api.addProject();
    const otherKey = await api.addKey(other);
    const headers = { "idempotency-key": "shared" };
    const one = await create({ prompt: "x" }, headers);
    const two = await api.send(`/v2/agent/${other.id}/job`, {
      method: "POST",
      key: otherKey,
      body: { prompt: "y" },
      headers,
    });
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(two.headers["idempotent-replayed"]).toBeUndefined();
  });

  test("after 24 hours a key is new again", async () => {
    const headers = { "idempotency-key": "old" };
    const first = await create({ prompt: "x" }, headers);
    await api.pool.query(
      "update idempotency_keys set created_at = created_at - interval '24 hours 1 second' where key = 'old'",
    );
    const second = await create({ prompt: "y" }, headers);
    expect(second.status).toBe(201);
    expect(second.text).not.toBe(first.text);
    expect((await create({ prompt: "y" }, headers)).text).toBe(second.text);
  });
});

describe("429", () => {
  test("beyond the project's quota: when to come back, and what the quota is", async () => {
    const small = await api.addProject({ createsPerHourMax: 2 });
    const smallKey = await api.addKey(small);
    const send = (headers = {}) =>
      api.send(`/v2/agent/${small.id}/job`, { method: "POST", key: smallKey, body: { prompt: "x" }, headers });
    const accepted = [await send({ "idempotency-key": "a" }), await send()];
    expect(accepted.map(({ headers }) => [headers["x-ratelimit-remaining"], headers.ratelimit])).toEqual([
      ["1", expect.stringMatching(/^"create";r=1;t=3(600|599)$/)],
      ["0", expect.stringMatching(/^"create";r=0;t=3(600|599)$/)],
    ]);
    const refused = await send();
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({
      "emend-error": "rate_limited",
      "ratelimit-policy": '"create";q=2;w=3600',
      ratelimit: expect.stringMatching(/^"create";r=0;t=\d+$/),
      "x-ratelimit-limit": "2",
      "x-ratelimit-remaining": "0",
      "retry-after": expect.stringMatching(/^3[56]\d\d$/),
    });
    const resetAt = Number(refused.headers["x-ratelimit-reset"]);
    expect(Math.abs(resetAt - (Date.now() / 1000 + 3600))).toBeLessThan(60);
    expect((await send({ "idempotency-key": "a" })).status, "a replay needs no quota").toBe(201);
    expect((await send({ "idempotency-key": "b" })).status, "a refusal is not stored").toBe(429);

    await api.pool.query("update quota_uses set used_at = used_at - interval '1 hour' where project_id = $1", [
      small.id,
    ]);
    expect((await send({ "idempotency-key": "b" })).status, "an hour later").toBe(201);
  });

  test("beyond a monthly budget, until it renews", async () => {
    const poor = await api.addProject({ monthlyBudget: { jobsMax: 0 } });
    const answer = await api.send(`/v2/agent/${poor.id}/job`, {
      method: "POST",
      key: await api.addKey(poor),
      body: { prompt: "x" },
    });
    expect(answer).toMatchObject({ status: 429, headers: { "emend-error": "budget_exceeded" } });
    expect(Object.keys(answer.json as object)).toEqual(["error"]);
    expect(Number(answer.headers["retry-after"])).toBeLessThanOrEqual(31 * 86_400);
  });

  test("without room no prompt is searched for credentials, and a prompt with too many is refused", async () => {
    const many = `${"xapp-1-a ".repeat(600)}0123456789-0123456789`;
    const wide = await startApi();
    try {
      const narrow = await wide.addProject({ createsPerHourMax: 1 });
      const narrowKey = await wide.addKey(narrow);
      const send = (prompt: string, headers = {}) =>
        wide.send(`/v2/agent/${narrow.id}/job`, { method: "POST", key: narrowKey, body: { prompt }, headers });
      expect(await send(many)).toMatchObject({
        status: 400,
        json: { error: expect.stringContaining("more than 500 credentials") },
      });
      const kept = "Say 0123456789-0123456789.";
      expect((await send(kept, { "idempotency-key": "a" })).status).toBe(201);
      expect(await send(many)).toMatchObject({
        status: 429,
        headers: { "retry-after": expect.stringMatching(/^3[56]\d\d$/) },
      });
      expect((await send(kept, { "idempotency-key": "a" })).status, "a replay needs no quota").toBe(201);
      expect((await send(many, { "idempotency-key": "a" })).status, "nor a conflict").toBe(409);
    } finally {
      await wide.close();
    }
  });

  test("a changed setting counts within a second", async () => {
    const changing = await api.addProject({ createsPerHourMax: 0 });
    const changingKey = await api.addKey(changing);
    const send = () =>
      api.send(`/v2/agent/${changing.id}/job`, { method: "POST", key: changingKey, body: { prompt: "x" } });
    expect((await send()).status).toBe(429);
    await api.pool.query(`update projects set settings = '{"createsPerHourMax":1}' where id = $1`, [changing.id]);
    await expect.poll(async () => (await send()).status).toBe(201);
  });
});
