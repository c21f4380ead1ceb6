import { startApi, type TestApi } from "@emend/testkit/api.ts";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";

// A node whose clock is wrong, or is set while it runs: everything that matters uses the database's clock.
let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterEach(() => vi.useRealTimers());
afterAll(() => api.close());

const yearMs = 365 * 24 * 3_600_000;
const jumps = [0, 10 * yearMs, -10 * yearMs];
function jump(byMs: number): void {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + byMs });
}

test("the quota, creation times, replays and pages hold across jumps", async () => {
  const project = await api.addProject({ createsPerHourMax: 3 });
  const key = await api.addKey(project);
  const path = `/v2/agent/${project.id}/job`;
  const realNow = Date.now();
  const created: { id: string; createdAt: string }[] = [];
  for (const [turn, byMs] of jumps.entries()) {
    jump(byMs);
    const request = { method: "POST", key, body: { prompt: "x" }, headers: { "idempotency-key": `key-${turn}` } };
    const answer = await api.send(path, request);
    expect(answer.status).toBe(201);
    created.push(answer.json as { id: string; createdAt: string });
    jump(-byMs);
    expect((await api.send(path, request)).json).toEqual(answer.json);
  }
  for (const { createdAt } of created) expect(Math.abs(Date.parse(createdAt) - realNow)).toBeLessThan(60_000);
  for (const byMs of jumps) {
    jump(byMs);
    const refused = await api.send(path, { method: "POST", key, body: { prompt: "x" } });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(3600);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3500);
  }
  const seen: string[] = [];
  for (let cursor = ""; ; ) {
    const page = (await api.send(`${path}s?limit=1${cursor}`, { key })).json as {
      jobs: { id: string }[];
      nextCursor: string | null;
    };
    seen.push(...page.jobs.map(({ id }) => id));
    if (page.nextCursor === null) break;
    cursor = `&cursor=${page.nextCursor}`;
  }
  expect(seen.toSorted()).toEqual(created.map(({ id }) => id).toSorted());
});

test("a key lives and expires by the database's clock alone", async () => {
  const project = await api.addProject();
  const live = await api.addKey(project, { expiresInMs: 3_600_000 });
  const expired = await api.addKey(project, { expiresInMs: 3_600_000, name: "expired" });
  await api.pool.query("update admin_keys set expires_at = now() - interval '1 second' where name = 'expired'");
  for (const byMs of jumps) {
    jump(byMs);
    const path = `/v2/agent/${project.id}/jobs`;
    expect((await api.send(path, { key: live })).status).toBe(200);
    expect((await api.send(path, { key: expired })).status).toBe(401);
  }
});
