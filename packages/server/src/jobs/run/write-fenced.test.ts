import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { foreignLease, readEvents, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startListener } from "../../db/listener.ts";
import type { Pool } from "../../db/pool.ts";
import { createRecorder } from "../../run/recorder.ts";
import { startRun } from "../../run/run.ts";
import { recordPictures } from "../page-pictures.ts";
import { recordPullRequest } from "../pull-requests.ts";
import { claimRun } from "./claim-run.ts";
import { endRun, releaseRun, setPhase } from "./end-run.ts";
import type { LeasedJob } from "./leased-job.ts";
import { type Lease, LeaseLost, renewForEffect } from "./leases.ts";
import { recordChange, recordCommit, recordPush } from "./record-change.ts";
import { recordBase, recordContext, recordStep, withholdContents } from "./record-work.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const usage = { model: "vendor/other", inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, costUsd: 0 };
const pullRequest = { number: 1, url: "http://forge.test/1", state: "open", draft: false } as const;
const change = {
  title: "T",
  pullTitle: "T",
  diffBase: "b",
  reply: null,
  summary: "S",
  findings: {},
  diff: Buffer.from("d"),
  limitReached: null,
  sources: [],
  isWithheld: false,
  codeOwners: null,
  changeKind: null,
  figures: {},
};
const edit = { path: "a.md", mode: "100644", content: Buffer.from("a") };

const picture = {
  path: "a.md",
  side: "after",
  width: 390,
  height: 1,
  marks: [],
  webp: Buffer.from("w"),
  page: null,
} as const;

const writes: Record<string, (pool: Pool, lease: Lease) => Promise<unknown>> = {
  setPhase: (pool, lease) => setPhase(pool, lease, "checking"),
  recordBase: (pool, lease) => recordBase(pool, lease, { commit: "b", branch: "main" }),
  recordStep: (pool, lease) =>
    recordStep(pool, lease, { step: { number: 1, messages: [], usage }, edits: [edit], event: {} }),
  recordChange: (pool, lease) => recordChange(pool, lease, change),
  recordCommit: (pool, lease) => recordCommit(pool, lease, { treeId: "t", commitId: "c" }),
  recordPush: (pool, lease) => recordPush(pool, lease),
  recordPullRequest: (pool, lease) => recordPullRequest(pool, lease, pullRequest),
  recordContext: (pool, lease) =>
    recordContext(pool, lease, { name: "api", repositoryUrl: "u", forge: "local", ref: "main", commit: "c" }),
  recordPictures: (pool, lease) => recordPictures(pool, lease, [picture]),
  renewForEffect: (pool, lease) => renewForEffect(pool, lease, 60_000),
  releaseRun: (pool, lease) => releaseRun(pool, lease, { reason: "crash", delayMs: 1_000 }),
  endRun: (pool, lease) => endRun(pool, lease, { kind: "completed", summary: "S" }),
};

test.each(Object.keys(writes))("%s by a run that lost its lease is refused and leaves no trace", async (name) => {
  const { pool } = database;
  const { id, lease } = await claimed(pool);
  const before = await everythingAbout(pool, id);

  await expect(writes[name]?.(pool, foreignLease(id))).rejects.toThrow(LeaseLost);
  expect(await everythingAbout(pool, id)).toEqual(before);

  await writes[name]?.(pool, lease);
  expect(await everythingAbout(pool, id)).not.toEqual(before);
});

test("withholding by a run that lost its lease is refused and withholds nothing", async () => {
  const { pool } = database;
  const { id, lease } = await claimed(pool);
  const said = { role: "assistant", text: "the credential", toolCalls: [] } as const;
  const step = { number: 1, messages: [said], usage };
  await recordStep(pool, lease, { step, edits: [edit], event: { text: "x" }, diff: Buffer.from("+the credential") });
  const before = await everythingAbout(pool, id);
  await expect(withholdContents(pool, foreignLease(id))).rejects.toThrow(LeaseLost);
  expect(await everythingAbout(pool, id)).toEqual(before);
  await withholdContents(pool, lease);
  expect(JSON.stringify(await everythingAbout(pool, id))).not.toContain("the credential");
  const { rows } = await pool.query("select working_diff from jobs where id = $1", [id]);
  expect(rows).toEqual([{ working_diff: null }]);
});

test("events are numbered without a gap, and the end wakes those who wait for the job", async () => {
  const { pool } = database;
  const { id, lease } = await claimed(pool);
  const listener = await startListener({ url: database.url, log: createLogger({ level: "silent" }) });
  try {
    const { promise, resolve } = Promise.withResolvers<string>();
    listener.on("emend_job_changed", resolve);
    await Promise.all([setPhase(pool, lease, "working"), setPhase(pool, lease, "checking")]);
    await endRun(pool, lease, { kind: "completed", summary: "" });
    expect(await promise).toBe(id);
    const events = await readEvents(pool, id);
    expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5]);
    expect(events.map((event) => event.kind)).toEqual(["job.created", "run.started", "phase", "phase", "completed"]);
  } finally {
    await listener.close();
  }
});

test("a run's recorder announces what it wrote, and nothing that was refused", async () => {
  const { pool } = database;
  const { id, job } = await claimed(pool);
  const announced: string[] = [];
  const deps = { pool, log: createLogger({ level: "silent" }), leaseMs: 600_000, crashPoint: () => {} };
  const recorderOf = (lease: Lease) =>
    createRecorder(
      { ...deps, announceChange: (id) => announced.push(id), processEnds: new AbortController().signal },
      startRun({ ...job, lease }),
    );
  const recorder = recorderOf(job.lease);
  await recorder.setPhase("working");
  expect(announced).toEqual([id]);
  await recorder.saveStep({ number: 1, messages: [], usage }, []);
  expect(announced).toEqual([id, id]);
  await expect(recorderOf(foreignLease(id)).setPhase("working")).rejects.toThrow(LeaseLost);
  expect(announced).toEqual([id, id]);
});

async function claimed(pool: Pool): Promise<{ id: string; lease: Lease; job: LeasedJob }> {
  // A job that an earlier test released is due again on a slow machine.
  await pool.query("update jobs set run_after = 'infinity' where lease is null");
  const id = await seedJob(pool, await seedProject(pool));
  const { job } = await claimRun(pool, { lanes: 4, leaseMs: 600_000, lookAfter: "", concurrency: 4, running: [] });
  if (job?.id !== id) throw new Error("another job was claimed");
  return { id, lease: job.lease, job };
}

async function everythingAbout(pool: Pool, id: string): Promise<unknown> {
  const [steps, overlay, pictures] = await Promise.all(
    ["steps", "overlay", "page_pictures"].map((table) => pool.query(`select * from ${table} where job_id = $1`, [id])),
  );
  return {
    job: await readJob(pool, id),
    events: await readEvents(pool, id),
    steps: steps?.rows,
    overlay: overlay?.rows,
    pictures: pictures?.rows,
  };
}
