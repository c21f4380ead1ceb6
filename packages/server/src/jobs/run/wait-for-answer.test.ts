import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { alterJob, readEvents, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { messageJob, messageQuota } from "../message-job.ts";
import { claimRun } from "./claim-run.ts";
import { type Lease, LeaseLost } from "./leases.ts";
import { waitForAnswer } from "./wait-for-answer.ts";

let database: TestDatabase;
let projectId: string;
let lease: Lease;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("delete from jobs");
  projectId = await seedProject(database.pool);
  await seedJob(database.pool, projectId);
  await database.pool.query("update jobs set created_by = 'user/a'");
  ({ lease } = await mustClaim());
});

const claim = async () =>
  (await claimRun(database.pool, { lanes: 4, leaseMs: 20_000, lookAfter: "", concurrency: 4, running: [] })).job;
async function mustClaim() {
  const job = await claim();
  if (!job) throw new Error("no job");
  return job;
}
const question = { question: "Which port?", options: ["80"], step: 3 };
const hourMs = 3_600_000;
const say = (words: string) =>
  messageJob(
    { pool: database.pool, reader: { forget() {} } as never, pullRequestState: async () => null },
    messageQuota,
    { id: lease.jobId, projectId, prompt: words, createdBy: "user/a" },
  );
const asked = async () => (await readEvents(database.pool, lease.jobId)).filter(({ kind }) => kind === "job.question");

test("a question gives the lease back, is told once, and an answer makes the job due", async () => {
  await waitForAnswer(database.pool, lease, question, hourMs);
  expect(await readJob(database.pool, lease.jobId)).toMatchObject({
    status: "active",
    phase: "queued",
    lease: null,
    waiting_for: "answer",
    waiting_words: "Which port?",
  });
  expect(await asked()).toMatchObject([{ data: { question: "Which port?", options: ["80"] } }]);
  await expect(waitForAnswer(database.pool, lease, question, hourMs)).rejects.toThrow(LeaseLost);
  expect(await claim()).toBeNull();
  // A run that is claimed too early comes back to the same question.
  await alterJob(database.pool, lease.jobId, "run_after = now()");
  const early = await mustClaim();
  expect(early.overdueStep).toBeNull();
  await waitForAnswer(database.pool, early.lease, question, hourMs);
  expect(await asked()).toHaveLength(1);
  expect(await claim()).toBeNull();
  await say("443");
  // Without gaps: clients resume by number.
  const { rows } = await database.pool.query("select seq from job_events where job_id = $1 order by seq", [
    lease.jobId,
  ]);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
  expect(await mustClaim()).toMatchObject({ hasInterjections: true, waitedMs: null, overdueStep: null });
});

test("what was said before the question was told is heard first, and nobody is asked", async () => {
  await say("Use 443.");
  await waitForAnswer(database.pool, lease, question, hourMs);
  expect(await asked()).toEqual([]);
  expect(await mustClaim()).toMatchObject({ hasInterjections: true });
});

test("a question that nobody answers is overdue with the job that asked it", async () => {
  await waitForAnswer(database.pool, lease, question, 0);
  expect(await mustClaim()).toMatchObject({ overdueStep: 3, questionsMax: 2, waitedMs: null, runs: 2 });
});

test("automations, issues and comments ask nobody", async () => {
  for (const author of ["automation/atm_1", "issue/ada", "comment/ada"]) {
    await database.pool.query("update jobs set created_by = $1, lease = null, run_after = now()", [author]);
    expect(await mustClaim()).toMatchObject({ questionsMax: 0 });
  }
});
