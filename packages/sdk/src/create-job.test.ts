import { afterEach, beforeEach, expect, test } from "vitest";
import { type ContractServer, startContractServer } from "../test/support/contract-server.ts";
import { Emend } from "./emend.ts";
import { EmendError } from "./errors.ts";

let server: ContractServer;
beforeEach(async () => {
  server = await startContractServer();
});
afterEach(() => server.stop());

function client(options: Partial<ConstructorParameters<typeof Emend>[0]> = {}) {
  return new Emend({ baseUrl: server.url, apiKey: "emend_test", ...options }).jobs("docs");
}

function answer(status: number, headers: Record<string, string> = {}) {
  return { kind: "answer", status, headers, body: `{"error":"said ${status}"}` } as const;
}

test("posts the prompt with the key, as JSON, to the project's path", async () => {
  const job = await client().create({ prompt: "Fix broken links." });

  expect(job.status).toBe("active");
  expect(server.seen[0]).toMatchObject({ method: "POST", path: "/v2/agent/docs/job" });
  expect(server.seen[0]?.headers).toMatchObject({
    authorization: "Bearer emend_test",
    "content-type": "application/json",
  });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ prompt: "Fix broken links." });
});

test("makes one job when the connection breaks before and after the work was done", async () => {
  server.faults.push({ kind: "reset" }, { kind: "reset-after-work" }, { kind: "reset-after-work" });

  const job = await client().create({ prompt: "once" });

  expect([...server.jobs.keys()]).toEqual([job.id]);
  expect(server.seen).toHaveLength(4);
  const keys = new Set(server.seen.map((request) => request.headers["idempotency-key"]));
  expect(keys.size).toBe(1);
});

test("uses another idempotency key for another call, and the given one when given", async () => {
  const jobs = client();
  await jobs.create({ prompt: "a" });
  await jobs.create({ prompt: "a" });
  await jobs.create({ prompt: "a" }, { idempotencyKey: "release-42" });

  const keys = server.seen.map((request) => request.headers["idempotency-key"]);
  expect(new Set(keys).size).toBe(3);
  expect(keys[2]).toBe("release-42");
});

test("tries again after 503 and never before Retry-After has passed", async () => {
  server.faults.push(answer(503, { "retry-after": "1" }));
  const startedAt = performance.now();

  await client().create({ prompt: "later" });

  expect(server.seen).toHaveLength(2);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1000);
});

test("gives up at once when the quota opens later than it is ready to wait", async () => {
  server.faults.push(answer(429, { "retry-after": "1800", "emend-error": "rate_limited" }));

  const error = await client()
    .create({ prompt: "101st" })
    .catch((caught) => caught);

  expect(error).toBeInstanceOf(EmendError);
  expect(error).toMatchObject({
    kind: "rate_limited",
    status: 429,
    code: "rate_limited",
    retryAfterMs: 1_800_000,
    message: "said 429",
  });
  expect(server.seen).toHaveLength(1);
});

test("waits out a quota that opens soon", async () => {
  server.faults.push(answer(429, { "retry-after": "0" }));
  await client().create({ prompt: "soon" });
  expect(server.seen).toHaveLength(2);
});

test.each([
  [400, "invalid_request"],
  [401, "unauthorized"],
  [403, "forbidden"],
  [404, "not_found"],
  [409, "conflict"],
  [413, "invalid_request"],
  [415, "invalid_request"],
] as const)("throws a %d at once as %s", async (status, kind) => {
  server.faults.push(answer(status));

  await expect(client().create({ prompt: "x" })).rejects.toMatchObject({ kind, status, message: `said ${status}` });
  expect(server.seen).toHaveLength(1);
});

test("throws the last refusal once the time for an outage is used up, and at once where there is none", async () => {
  server.faults.push(answer(503), ...Array.from({ length: 500 }, () => answer(502, { "x-request-id": "req_7" })));

  const created = client({ outageMsMax: 200 }).create({ prompt: "x" });

  await expect(created).rejects.toMatchObject({
    kind: "unavailable",
    status: 502,
    message: "said 502",
    requestId: "req_7",
  });
  const tries = server.seen.length;
  expect(tries).toBeGreaterThan(1);
  await expect(client().create({ prompt: "x" }, { outageMsMax: 0 })).rejects.toMatchObject({ status: 502 });
  expect(server.seen).toHaveLength(tries + 1);
});

test("sends the headers of the client and of the call, but never another key", async () => {
  const jobs = client({ headers: { "X-Team": "docs", "X-Request-Id": "a" } });
  await jobs.create({ prompt: "x" }, { headers: { "x-request-id": "b", Authorization: "Bearer other" } });
  expect(server.seen[0]?.headers).toMatchObject({
    "x-team": "docs",
    "x-request-id": "b",
    authorization: "Bearer emend_test",
  });
});

test("says what is left of the quota, after a create and after a refusal", async () => {
  const quota = (remaining: number) => ({
    ratelimit: `"create";r=${remaining};t=60`,
    "x-ratelimit-limit": "100",
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": "1800000000",
  });
  const jobs = client();
  expect(jobs.quota).toEqual({ create: null, message: null });
  const body = JSON.stringify({ id: "job_1", status: "active" });
  server.faults.push({ kind: "answer", status: 201, headers: quota(41), body });
  await jobs.create({ prompt: "x" });
  const resetsAt = new Date(1_800_000_000_000);
  expect(jobs.quota.create).toEqual({ of: "create", limit: 100, remaining: 41, resetsAt });
  server.faults.push(answer(429, { ...quota(0), "retry-after": "1800" }));
  await expect(jobs.create({ prompt: "x" })).rejects.toMatchObject({ quota: { remaining: 0 } });
  expect(jobs.quota.create?.remaining).toBe(0);
});

test("tells a page that is no JSON, or JSON that is no job, from an answer of Emend's", async () => {
  for (const body of ["<html>log in</html>", '{"ok":true}', '{"id":"x","status":"paused"}', "null"]) {
    server.faults.push({ kind: "answer", status: 200, body });
    await expect(client().create({ prompt: "x" })).rejects.toMatchObject({ kind: "invalid_response", status: 200 });
  }
  expect(server.seen).toHaveLength(4);
});

test("reads an error that a proxy wrote as a status in words", async () => {
  server.faults.push({ kind: "answer", status: 404, body: "<h1>not here</h1>" });
  await expect(client().create({ prompt: "x" })).rejects.toMatchObject({
    kind: "not_found",
    message: "the service answered 404",
  });
});

test("never carries the key along a redirect", async () => {
  const elsewhere = await startContractServer();
  server.faults.push({ kind: "answer", status: 307, headers: { location: elsewhere.url }, body: "" });

  await expect(client().create({ prompt: "x" })).rejects.toMatchObject({ kind: "invalid_response", status: 307 });

  expect(elsewhere.seen).toEqual([]);
  await elsewhere.stop();
});

test("gives a try that gets no answer up and makes another", async () => {
  server.faults.push({ kind: "silence" });
  const job = await client({ timeoutMs: 150 }).create({ prompt: "x" });
  expect(job.id).toBe("job_1");
  expect(server.seen).toHaveLength(2);
});

test("calls a silence that lasts a time-out", async () => {
  server.faults.push({ kind: "silence" });
  const created = client({ timeoutMs: 100, outageMsMax: 0 }).create({ prompt: "x" });
  await expect(created).rejects.toMatchObject({ kind: "timeout", status: null });
});

test("reports that no server listens there", async () => {
  await server.stop();
  const created = client({ outageMsMax: 0 }).create({ prompt: "x" });
  await expect(created).rejects.toMatchObject({ kind: "network", message: expect.stringContaining("ECONNREFUSED") });
  server = await startContractServer();
});

test("stops at once with the signal's reason, during a request and between two", async () => {
  const duringRequest = new AbortController();
  server.faults.push({ kind: "silence" });
  const first = client({ outageMsMax: 0 }).create({ prompt: "x" }, { signal: duringRequest.signal });
  await server.untilSeen(1);
  duringRequest.abort(new Error("changed my mind"));
  await expect(first).rejects.toThrow("changed my mind");

  const betweenTries = new AbortController();
  server.faults.push(answer(503, { "retry-after": "20" }));
  const second = client().create({ prompt: "x" }, { signal: betweenTries.signal });
  await server.untilSeen(2);
  setTimeout(() => betweenTries.abort(new Error("enough")), 50);
  await expect(second).rejects.toThrow("enough");
  expect(server.seen).toHaveLength(2);
});

test("refuses an idempotency key that no header can carry", async () => {
  for (const idempotencyKey of ["", "a\nb", "ü", "x".repeat(256)]) {
    const created = client().create({ prompt: "x" }, { idempotencyKey });
    await expect(created).rejects.toMatchObject({ kind: "invalid_request", status: null });
  }
  expect(server.seen).toEqual([]);
});
