import { randomUUID } from "node:crypto";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { alterJob, readEvents, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { messageJob, messageQuota } from "../message-job.ts";
import { recordPullRequest } from "../pull-requests.ts";
import { startRound } from "../start-round.ts";
import { claimRun } from "./claim-run.ts";
import { endRun } from "./end-run.ts";
import { type Lease, LeaseLost, renewForEffect } from "./leases.ts";
import { recordCommit, recordCreate, recordPush } from "./record-change.ts";
import { loadInterjections, recordStep } from "./record-work.ts";

let database: TestDatabase;
let lease: Lease;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
let projectId: string;
beforeEach(async () => {
  await database.pool.query("delete from jobs");
  projectId = await seedProject(database.pool);
  await seedJob(database.pool, projectId);
  ({ lease } = await claim());
});

async function claim() {
  const options = { lanes: 4, leaseMs: 20_000, lookAfter: "", concurrency: 4, running: [] };
  const { job } = await claimRun(database.pool, options);
  if (!job) throw new Error("no job");
  return job;
}

const completed = { kind: "completed", summary: "Nothing to do." } as const;
const failed = { kind: "failed", code: "forge_rejected", message: "No." } as const;
const commit = { treeId: "t", commitId: "c" };
const pullRequest = { number: 1, url: "http://forge.test/1", state: "open", draft: false } as const;
const job = () => readJob(database.pool, lease.jobId);

test("a job that ends with nothing pushed shows no branch and no link", async () => {
  await endRun(database.pool, lease, completed);
  expect(await job()).toMatchObject({
    status: "completed",
    ref: null,
    pr_link: null,
    summary: "Nothing to do.",
    lease: null,
  });
  expect((await job()).ended_at).toBeInstanceOf(Date);
});

test("what was said and no step took starts the next round as the job ends, and what a step took does not", async () => {
  const { pool } = database;
  const say = (words: string) =>
    messageJob({ pool, reader: { forget() {} } as never, pullRequestState: async () => null }, messageQuota, {
      id: lease.jobId,
      projectId,
      prompt: words,
      createdBy: "user/a",
    });
  await say("First.");
  const [first] = await loadInterjections(pool, lease.jobId);
  const usage = { model: "m", inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, costUsd: 0 };
  const step = { number: 1, messages: [], usage, taken: [first?.id ?? ""] };
  expect(await recordStep(pool, lease, { step, edits: [], event: {} })).toBe(true);
  expect(await loadInterjections(pool, lease.jobId)).toEqual([]);
  await say("Second.");
  await say("Third.");
  await endRun(pool, lease, completed);
  expect(await job()).toMatchObject({ status: "active", phase: "queued", lease: null, rounds: [{ message: 0 }] });
  const { rows } = await pool.query("select prompt, after_step from job_messages where job_id = $1", [lease.jobId]);
  expect(rows).toEqual([{ prompt: "Second.\n\nThird.", after_step: 1 }]);
  const kinds = (await readEvents(pool, lease.jobId)).map(({ kind }) => kind);
  expect(kinds.slice(-2)).toEqual(["completed", "job.message"]);
  // The next round ends: everything was heard.
  const next = await claim();
  expect(next.followUps).toEqual(["Second.\n\nThird."]);
  expect(next.interjections).toEqual(["First."]);
  await endRun(pool, next.lease, completed);
  expect(await job()).toMatchObject({ status: "completed" });
});

test("a run that lost its lease ends nothing, whatever was said", async () => {
  await alterJob(database.pool, lease.jobId, "has_interjections = true, lease = gen_random_uuid()");
  await expect(endRun(database.pool, lease, completed)).rejects.toBeInstanceOf(LeaseLost);
  expect(await job()).toMatchObject({ status: "active" });
});

test("a published job shows its branch, and its link only from the end on", async () => {
  const { pool } = database;
  await recordCommit(pool, lease, commit);
  await recordPullRequest(pool, lease, pullRequest);
  expect((await job()).pr_link).toBeNull();
  await alterJob(pool, lease.jobId, "pull_request_look_at = clock_timestamp() + interval '1 hour'");
  await endRun(pool, lease, completed);
  expect(await job()).toMatchObject({ pr_link: pullRequest.url, ref: `emend/${lease.jobId}` });
  // Comments that came meanwhile are handled at once.
  expect((await job()).pull_request_look_at).toBeNull();
});

test("a job that fails while its request may still open a pull request is looked after", async () => {
  const { pool } = database;
  await recordCommit(pool, lease, commit);
  await recordCreate(pool, lease, 60_000);
  await endRun(pool, lease, failed);
  expect(await job()).toMatchObject({ status: "failed", publication_unsure: true });
});

test("a job that fails after its push keeps showing the branch", async () => {
  await recordCommit(database.pool, lease, commit);
  await recordPush(database.pool, lease);
  await endRun(database.pool, lease, failed);
  expect(await job()).toMatchObject({
    status: "failed",
    failure_code: "forge_rejected",
    failure_message: "No.",
    ref: `emend/${lease.jobId}`,
    pr_link: null,
  });
  expect((await readEvents(database.pool, lease.jobId)).at(-1)).toMatchObject({
    kind: "failed",
    data: { code: "forge_rejected", message: "No." },
  });
});

test("a follow-up that fails leaves a completed job completed, and keeps why", async () => {
  const { pool } = database;
  await recordCommit(pool, lease, commit);
  await recordPullRequest(pool, lease, pullRequest);
  await endRun(pool, lease, completed);
  await startRound(pool, { id: lease.jobId, prompt: "More.", createdBy: "key/key_1" });
  const token = randomUUID();
  await alterJob(pool, lease.jobId, `lease = '${token}', lease_until = clock_timestamp() + interval '1 minute'`);
  await endRun(pool, { ...lease, token }, failed);
  expect(await job()).toMatchObject({
    status: "completed",
    failure_code: "forge_rejected",
    pr_link: pullRequest.url,
    summary: completed.summary,
  });
  const told = { kind: "completed", data: { code: "forge_rejected", message: "No.", prLink: pullRequest.url } };
  expect((await readEvents(pool, lease.jobId)).at(-1)).toMatchObject(told);
});

test("a cancel and a commit at the same time: exactly one wins", async () => {
  const { pool } = database;
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("update jobs set status = 'failed', lease = null where id = $1", [lease.jobId]);
    const recording = recordCommit(pool, lease, commit).catch((error: unknown) => error);
    await waitUntilBlocked();
    await client.query("commit");
    expect(await recording).toBeInstanceOf(LeaseLost);
    expect((await job()).commit_id).toBeNull();
    await expect(renewForEffect(pool, lease, 20_000)).rejects.toThrow(LeaseLost);
    await expect(endRun(pool, lease, completed)).rejects.toThrow(LeaseLost);
    expect(await job()).toMatchObject({ status: "failed", summary: null });
  } finally {
    client.release();
  }
});

async function waitUntilBlocked(): Promise<void> {
  for (;;) {
    const { rows } = await database.pool.query(
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    );
    if (rows.length > 0) return;
  }
}

test("the time to send is counted from before the renewal", async () => {
  const before = performance.now();
  const { sendBeforeMs } = await renewForEffect(database.pool, lease, 20_000);
  expect(sendBeforeMs).toBeGreaterThanOrEqual(before + 5_000);
  expect(sendBeforeMs).toBeLessThanOrEqual(performance.now() + 5_000);
});
