import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { alterJob, readEvents, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { claimRun } from "./claim-run.ts";
import type { Lease } from "./leases.ts";
import { loadRun, recordStep } from "./record-work.ts";

let database: TestDatabase;
let lease: Lease;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await seedJob(database.pool, await seedProject(database.pool));
  const { job } = await claimRun(database.pool, {
    lanes: 4,
    leaseMs: 20_000,
    lookAfter: "",
    concurrency: 4,
    running: [],
  });
  if (!job) throw new Error("no job");
  lease = job.lease;
});

const usage = { model: "vendor/large", inputTokens: 100, outputTokens: 10, cachedInputTokens: 50, costUsd: 0.125 };
const user = (text: string) => ({ role: "user", text });

test("arguments keep the order of their keys, which a vendor's prompt cache goes by", async () => {
  const call = { id: "c", name: "edit_file", input: { path: "a.md", newText: "b", edits: [{ z: 1, a: 2 }], b: 1 } };
  const messages = [{ role: "assistant", text: "", toolCalls: [call] }];
  await recordStep(database.pool, lease, { step: { number: 1, messages, usage }, edits: [], event: {} });
  const [stored] = (await loadRun(database.pool, lease.jobId)).steps;
  expect(JSON.stringify(stored?.messages)).toBe(JSON.stringify(messages));
});

test("what was stored is what another run loads, byte for byte", async () => {
  const { pool } = database;
  const bytes = Buffer.from([0, 255, 10, 13, 0xef, 0xbb, 0xbf]);
  await recordStep(pool, lease, {
    step: { number: 1, messages: [user("one")], usage },
    edits: [
      { path: "b.md", mode: "100755", content: bytes },
      { path: "a.md", mode: "100644", content: Buffer.alloc(0) },
    ],
    event: { number: 1 },
  });
  await recordStep(pool, lease, {
    step: { number: 2, messages: [user("two")], usage: { ...usage, model: "vendor/small" } },
    edits: [{ path: "a.md", mode: "100644", content: null }],
    event: { number: 2 },
  });

  const stored = await loadRun(pool, lease.jobId);
  expect(stored.steps).toEqual([
    { number: 1, messages: [user("one")], usage },
    { number: 2, messages: [user("two")], usage: { ...usage, model: "vendor/small" } },
  ]);
  expect(stored.edits).toEqual([
    { path: "a.md", mode: "100644", content: null },
    { path: "b.md", mode: "100755", content: bytes },
  ]);
});

test("the job shows the model that answered last, and what all steps used", async () => {
  const { pool } = database;
  await alterJob(pool, lease.jobId, "retries = 3");
  for (const [number, model] of [
    [1, "vendor/large"],
    [2, "vendor/small"],
  ] as const) {
    await recordStep(pool, lease, { step: { number, messages: [], usage: { ...usage, model } }, edits: [], event: {} });
  }
  const job = await readJob(pool, lease.jobId);
  expect(job.model).toBe("vendor/small");
  expect(job.retries).toBe(0);
  await alterJob(pool, lease.jobId, "lease = null");
  const { job: again } = await claimRun(pool, {
    lanes: 4,
    leaseMs: 20_000,
    lookAfter: "",
    concurrency: 4,
    running: [],
  });
  expect(again).toMatchObject({ id: lease.jobId, model: "emend/rules", answeredBy: "vendor/small" });
  expect(job.usage).toEqual({
    secondReaderCostUsd: 0,
    steps: 2,
    inputTokens: 200,
    outputTokens: 20,
    cachedInputTokens: 100,
    costUsd: 0.25,
  });
});

test("a step that is recorded twice, as after a lost response, counts once", async () => {
  const { pool } = database;
  const input = { step: { number: 1, messages: [user("one")], usage }, edits: [], event: {} };
  await recordStep(pool, lease, input);
  await recordStep(pool, lease, input);
  expect((await readJob(pool, lease.jobId)).usage.steps).toBe(1);
  expect((await readEvents(pool, lease.jobId)).map((event) => event.kind)).toEqual([
    "job.created",
    "run.started",
    "step",
  ]);
});

test("characters that jsonb refuses do not lose a step", async () => {
  const { pool } = database;
  const text = "nul \0, half \ud800, escaped \\u0000, \ud83d\ude00";
  await recordStep(pool, lease, {
    step: { number: 1, messages: [{ "key\0": text }], usage },
    edits: [],
    event: { text },
  });
  expect((await loadRun(pool, lease.jobId)).steps[0]?.messages).toEqual([
    { "key\ufffd": "nul \ufffd, half \ufffd, escaped \\u0000, \ud83d\ude00" },
  ]);
});

test("two thousand edits are stored and loaded", async () => {
  const { pool } = database;
  const edits = Array.from({ length: 2_000 }, (_, n) => ({
    path: `docs/page-${String(n).padStart(4, "0")}.md`,
    mode: "100644",
    content: Buffer.from(`# Page ${n}\n`.repeat(40)),
  }));
  await recordStep(pool, lease, { step: { number: 1, messages: [], usage }, edits, event: {} });
  const loaded = (await loadRun(pool, lease.jobId)).edits;
  const whole = (all: typeof loaded) => all.map(({ path, mode, content }) => `${path} ${mode} ${content}`).join("\0");
  expect(whole(loaded) === whole(edits)).toBe(true);
});
