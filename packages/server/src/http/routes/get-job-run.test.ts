import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { deflateSync } from "node:zlib";
import { startApi } from "@emend/testkit/api.ts";
import { alterJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, describe, expect, test } from "vitest";

const api = await startApi();
afterAll(() => api.close());
const project = await api.addProject();
const key = await api.addKey(project, { scope: "read" });
const jobs = `/v2/agent/${project.id}/job`;

const finding = { check: "link", severity: "error", path: "a.mdx", line: 1, column: 2, message: "broken" };
const diff = [
  "diff --git a/a b.mdx b/a b.mdx",
  "--- a/a b.mdx\t",
  "+++ b/a b.mdx\t",
  "@@ -1,2 +1,2 @@",
  "--- a/not-a-header",
  "+++ b/not-a-header",
  " same",
  "diff --git a/old.mdx b/new.mdx",
  "similarity index 100%",
  "rename from old.mdx",
  "rename to new.mdx",
  'diff --git "a/\\303\\251.mdx" "b/\\303\\251.mdx"',
  "deleted file mode 100644",
  '--- "a/\\303\\251.mdx"',
  "+++ /dev/null",
  "@@ -1 +0,0 @@",
  "-gone",
  "",
].join("\n");

describe("run", () => {
  test("a new job has a run with nothing in it", async () => {
    const id = await seedJob(api.pool, project.id);
    const { json } = await api.send(`${jobs}/${id}/run`, { key });
    expect(json).toMatchObject({
      id,
      status: "active",
      phase: "queued",
      prompt: "Fix the links.",
      failure: null,
      steps: { count: 0, latest: [] },
      usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 },
      findings: null,
      violations: [],
      pullRequest: null,
      runs: 0,
      timings: { startedAt: null, endedAt: null },
    });
  });

  test("a job that ended says what it did, what it cost and where its pull request is", async () => {
    const id = await seedJob(api.pool, project.id);
    const verdict = {
      kind: "flagged",
      findingsBefore: 3,
      findingsAfter: 200,
      introduced: Array(150).fill(finding),
      fixed: [],
    };
    const pullRequest = { number: 4, url: "https://github.test/pull/4", state: "open", draft: true };
    await api.pool.query("update jobs set findings = $2, pull_request = $3 where id = $1", [id, verdict, pullRequest]);
    await alterJob(
      api.pool,
      id,
      `status = 'failed', failure_code = 'timeout', failure_message = 'Too long.', title = 'A title', runs = 2,
       limit_reached = 'timeout', base_commit = 'abc', base_branch = 'main', ended_at = now(),
       usage = '{"steps": 61, "inputTokens": 10, "outputTokens": 5, "cachedInputTokens": 1, "costUsd": 0.25}'`,
    );
    await api.pool.query(
      `insert into job_events (job_id, seq, kind, data) select $1, 10 + n, 'step',
         jsonb_build_object('number', n, 'model', 'm', 'text', '', 'tools', '[]'::jsonb) from generate_series(1, 61) n`,
      [id],
    );
    await api.pool.query("insert into job_events (job_id, seq, kind, data) values ($1, 5, 'run.started', '{}')", [id]);
    const { json } = await api.send(`${jobs}/${id}/run`, { key });
    expect(json).toMatchObject({
      failure: { code: "timeout", message: "Too long." },
      limitReached: "timeout",
      usage: { costUsd: 0.25 },
      findings: { before: 3, after: 200, introducedCount: 150, fixedCount: 0 },
      baseCommit: "abc",
      pullRequest,
      runs: 2,
      timings: { startedAt: expect.stringMatching(/Z$/), endedAt: expect.stringMatching(/Z$/) },
    });
    const { steps, findings } = json as { steps: { count: number; latest: { number: number }[] }; findings: object };
    expect(steps.count).toBe(61);
    expect(steps.latest.map(({ number }) => number)).toEqual(Array.from({ length: 50 }, (_, index) => index + 12));
    expect(findings).toMatchObject({ introduced: { length: 100 } });
  });

  test("a job says that it waits for its model until the next attempt", async () => {
    const id = await seedJob(api.pool, project.id);
    await alterJob(api.pool, id, "retries = 1, run_after = now() + interval '1 minute'");
    await api.pool.query("insert into job_events (job_id, seq, kind, data) values ($1, 9, 'phase', $2)", [
      id,
      { phase: "queued", reason: "retry", code: "model_unavailable", message: "Anthropic answered 529." },
    ]);
    const read = async () => (await api.send(`${jobs}/${id}/run`, { key })).json;
    const nextTryAt = expect.stringMatching(/Z$/);
    expect(await read()).toMatchObject({ waiting: { for: "model", message: "Anthropic answered 529.", nextTryAt } });
    await alterJob(api.pool, id, "lease = gen_random_uuid()");
    expect(await read()).toMatchObject({ waiting: null });
  });

  test("policy violations are reported", async () => {
    const id = await seedJob(api.pool, project.id);
    const violations = [{ path: ".github/x.yml", rule: "ci" }];
    await api.pool.query("update jobs set findings = $2 where id = $1", [id, { kind: "denied", violations }]);
    expect((await api.send(`${jobs}/${id}/run`, { key })).json).toMatchObject({ violations, findings: null });
  });
});

describe("diff", () => {
  test("is sent as it was stored, byte for byte", async () => {
    const id = await seedJob(api.pool, project.id);
    const bytes = Buffer.from([...Buffer.from(diff), 0xff, 0x0a]);
    await api.pool.query("update jobs set diff = $2 where id = $1", [id, deflateSync(bytes)]);
    const answer = await fetch(`${api.url}${jobs}/${id}/diff`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.headers.get("content-type")).toBe("text/x-diff; charset=utf-8");
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
    expect((await api.send(`${jobs}/${id}/diff`, { method: "HEAD", key })).headers["content-type"]).toBe(
      "text/x-diff; charset=utf-8",
    );
  });

  test("as JSON it has its files and their figures", async () => {
    const id = await seedJob(api.pool, project.id);
    await api.pool.query("update jobs set diff = $2 where id = $1", [id, deflateSync(diff)]);
    const headers = { accept: "application/json, */*;q=0.1" };
    const { json } = await api.send(`${jobs}/${id}/diff`, { key, headers });
    expect(json).toEqual({
      diff,
      files: [
        { path: "a b.mdx", change: "modified", additions: 1, deletions: 1 },
        { path: "new.mdx", from: "old.mdx", change: "renamed", additions: 0, deletions: 0 },
        { path: "é.mdx", change: "deleted", additions: 0, deletions: 1 },
      ],
    });
    const preferred = { accept: "text/x-diff, application/json" };
    expect((await api.send(`${jobs}/${id}/diff`, { key, headers: preferred })).text).toBe(diff);
  });

  test("429 for a key that reads many large ones at once, until one was read; other keys are not hindered", async () => {
    const id = await seedJob(api.pool, project.id);
    // More than the sockets of a machine with much memory take in while nobody reads.
    await api.pool.query("update jobs set diff = $2 where id = $1", [id, deflateSync(randomBytes(32_000_000))]);
    const path = `${jobs}/${id}/diff`;
    const other = await api.addKey(project, { scope: "read" });
    const slow: Socket[] = [];
    async function openSlow(): Promise<Socket> {
      const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
      await once(socket, "data");
      return socket.pause();
    }
    // On a busy machine the database may take too long for one of them, which then ends.
    async function sendFifth() {
      for (const index of [0, 1, 2, 3]) if (slow[index]?.destroyed !== false) slow[index] = await openSlow();
      return api.send(path, { key });
    }
    try {
      const refused = { status: 429, headers: { "emend-error": "rate_limited", "retry-after": "1" } };
      await expect.poll(sendFifth).toMatchObject(refused);
      expect((await api.send(path, { method: "HEAD", key: other })).status).toBe(200);
    } finally {
      for (const socket of slow) socket.destroy();
    }
    await expect.poll(async () => (await api.send(path, { method: "HEAD", key })).status).toBe(200);
  });

  test("is empty while nothing was handed over", async () => {
    const id = await seedJob(api.pool, project.id);
    expect(await api.send(`${jobs}/${id}/diff`, { key })).toMatchObject({ status: 200, text: "" });
  });
});

test.each(["run", "diff"])("404 on %s for an unknown job and for one of another project", async (what) => {
  const other = await api.addProject();
  const id = await seedJob(api.pool, other.id);
  for (const unknown of [id, "job_none", "%00", "x".repeat(200)]) {
    const answer = await api.send(`${jobs}/${unknown}/${what}`, { key });
    expect([answer.status, answer.text]).toEqual([404, '{"error":"Job not found."}']);
  }
});
