import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { createFarEnds, type Script, scriptedStages } from "@emend/testkit/scripted-stages.ts";
import { alterJob, readEvents, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { isFinal, shortTimes, waitForJob } from "@emend/testkit/worker-control.ts";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { channels, type Listener, startListener } from "../db/listener.ts";
import { inTransaction } from "../db/transaction.ts";
import { archiveJob, cancelJob, retryJob } from "../jobs/job-actions.ts";
import { createJobReader } from "../jobs/read/job-reader.ts";
import { readRun } from "../jobs/read/run-report.ts";
import type { LeasedJob } from "../jobs/run/leased-job.ts";
import type { Stages } from "./run.ts";
import { startWorker, type Worker, type WorkerOptions } from "./worker.ts";

const lines: { level: number; msg: string; outcome?: string }[] = [];
const log = createLogger({ level: "info", stream: { write: (line) => void lines.push(JSON.parse(line)) } });
let database: TestDatabase;
let listener: Listener;
let projectId: string;
let worker: Worker | undefined;
beforeAll(async () => {
  database = await createTestDatabase();
  await createFarEnds(database.pool);
  listener = await startListener({ url: database.url, log });
});
afterAll(async () => {
  await listener.close();
  await database.drop();
});
beforeEach(async () => {
  projectId = await seedProject(database.pool);
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await database.pool.query("truncate projects cascade");
});

type Homes = NonNullable<Parameters<typeof startWorker>[0]["homes"]>;
let outcomes: string[] = [];
const settled = (outcome: string) => void outcomes.push(outcome);

function start(
  options: Partial<WorkerOptions> = {},
  pool = database.pool,
  homes?: Homes,
  changed: (stages: Stages) => Partial<Stages> = () => ({}),
): void {
  outcomes = [];
  const crashPoint = () => {};
  const scripted = scriptedStages({ pool, worker: "only", crashPoint });
  const stages = { ...scripted, ...changed(scripted) };
  worker = startWorker(
    { pool, databaseUrl: database.url, listener, log, stages, crashPoint, onSettled: settled, ...(homes && { homes }) },
    // A busy machine may renew a short lease too late, and then a job rightly runs again.
    { concurrency: 4, ...shortTimes, leaseMs: 60_000, drainMsMax: 2_000, ...options },
  );
}
const job = (script: Script) => seedJob(database.pool, projectId, JSON.stringify(script));
const ended = (id: string) => waitForJob(database.pool, id, isFinal);

async function stopJob(id: string, action: "cancel" | "archive", waitMs = 0) {
  const reader = createJobReader({ pool: database.pool, listener });
  const deps = { pool: database.pool, reader };
  try {
    if (action === "cancel") return await cancelJob(deps, { id, projectId }, "key/k");
    return await archiveJob(deps, { id, projectId }, { waitMs, signal: new AbortController().signal });
  } finally {
    reader.close();
  }
}

test("a job with changes ends completed, with its link, its branch and the model that answered last", async () => {
  const id = await job({ steps: 2 });
  start();
  expect(await ended(id)).toMatchObject({
    status: "completed",
    pr_link: `http://forge.test/${id}`,
    ref: `emend/${id}`,
    model: "scripted/last",
    base_commit: "base",
    base_branch: "main",
    title: "T",
    summary: "S",
    lease: null,
    failure_code: null,
  });
  expect((await readEvents(database.pool, id)).map(({ kind }) => kind)).toEqual([
    "job.created",
    "run.started",
    "phase",
    "step",
    "step",
    "phase",
    "findings",
    "phase",
    "pull_request",
    "completed",
  ]);
});

test("a job without changes ends completed, says why, and shows no branch", async () => {
  const id = await job({ edits: false });
  start();
  expect(await ended(id)).toMatchObject({ status: "completed", pr_link: null, ref: null, summary: "As it was." });
});

test("a change that policy denies fails the job, keeps its diff and publishes nothing", async () => {
  const id = await job({ verdict: "denied" });
  start();
  const row = await ended(id);
  expect(row).toMatchObject({ status: "failed", failure_code: "policy_denied", ref: null, pr_link: null });
  expect(row.failure_message).toContain(".github/x.yml");
  expect(row.diff.length).toBeGreaterThan(0);
});

test("work cut short by a limit is published, and the job fails with the limit's code and its link", async () => {
  const id = await job({ limit: "budget_exceeded" });
  start();
  expect(await ended(id)).toMatchObject({
    status: "failed",
    failure_code: "budget_exceeded",
    pr_link: `http://forge.test/${id}`,
    ref: `emend/${id}`,
  });
});

test("a refusal fails the job at once, in the words meant for its reader", async () => {
  const id = await job({ fail: { stage: "runAgent", code: "policy_denied", retryable: false } });
  start();
  expect(await ended(id)).toMatchObject({
    failure_code: "policy_denied",
    failure_message: "Failed on purpose.",
    runs: 1,
  });
});

test("an unavailable service is retried a limited number of times, and counts no crash", async () => {
  const id = await job({ fail: { stage: "runAgent", code: "model_unavailable", retryable: true } });
  start({ retriesMax: 2, retryMs: 20 });
  expect(await ended(id)).toMatchObject({ failure_code: "model_unavailable", runs: 3, retries: 2, crashes: 0 });
});

test("an unexpected error is tried three times and fails as internal, without its message", async () => {
  const id = await job({ breakAt: "openTree" });
  start({ retryMs: 20 });
  const row = await ended(id);
  expect(row).toMatchObject({ failure_code: "internal", runs: 3, crashes: 2 });
  expect(row.failure_message).not.toContain("broken on purpose");
});

const awayForge: Script = { steps: 2, fail: { stage: "publish", code: "forge_unavailable", retryable: true } };
const turnsOf = async (id: string) =>
  (await database.pool.query("select number from turns where job_id = $1", [id])).rows.length;
const waits = (id: string) => waitForJob(database.pool, id, (row) => row.waiting_since !== null && row.lease === null);

test("finished work waits for its forge without a lease, and is published without the model once it is back", async () => {
  const id = await job(awayForge);
  const claims: string[] = [];
  start({ retryMs: 20 });
  const stop = listener.on(channels.jobDue, (project) => void claims.push(project));
  await waits(id);
  const run = await readRun(database.pool, { id, projectId });
  expect(run).toMatchObject({ status: "active", waiting: { for: "forge", message: "Failed on purpose." } });
  // It was tried several times. None of these tries counts as a run, a crash or an event.
  await expect.poll(() => claims.length, { timeout: 10_000 }).toBeGreaterThan(3);
  stop();
  // Another process continues where this one stopped.
  await worker?.stop();
  expect(await readJob(database.pool, id)).toMatchObject({ status: "active", runs: 1, crashes: 0, retries: 0 });
  await alterJob(database.pool, id, `prompt = '{"steps": 2}', run_after = now()`);
  start({ retryMs: 20 });
  expect(await ended(id)).toMatchObject({
    status: "completed",
    pr_link: `http://forge.test/${id}`,
    waiting_since: null,
  });
  expect(await turnsOf(id)).toBe(2);
  const told = (await readEvents(database.pool, id)) as readonly { kind: string; data?: { reason?: string } }[];
  expect(told.filter(({ data }) => data?.reason === "waiting")).toHaveLength(1);
  expect(told.filter(({ kind }) => kind === "run.started")).toHaveLength(1);
});

test("work that waited for too long fails, and a retry publishes it without the model", async () => {
  projectId = await seedProject(database.pool, { publishWaitHours: 0.00001 });
  const id = await job(awayForge);
  start({ retryMs: 20 });
  expect(await ended(id)).toMatchObject({ failure_code: "forge_unavailable", status: "failed" });
  expect(await readRun(database.pool, { id, projectId })).toMatchObject({ waiting: null, isRetryable: true });
  await alterJob(database.pool, id, `prompt = '{"steps": 2}'`);
  const reader = createJobReader({ pool: database.pool, listener });
  const asked = await Promise.all([1, 2].map(() => retryJob({ pool: database.pool, reader }, { id, projectId })));
  // The worker may publish it before the other request is answered.
  expect(asked.map(({ kind }) => kind)).toContain("done");
  expect(await ended(id)).toMatchObject({ status: "completed", failure_code: null });
  expect(await turnsOf(id)).toBe(2);
  reader.close();
});

test.each(["cancel", "archive"] as const)(
  "a job that waits for its forge obeys %s at once, and opens nothing",
  async (action) => {
    const id = await job(awayForge);
    start({ retryMs: 60_000 });
    await waits(id);
    expect(await stopJob(id, action)).toMatchObject({ kind: "done", job: { isActive: false } });
    expect(await readJob(database.pool, id)).toMatchObject({ waiting_since: null, lease: null });
  },
);

test("a run that fails while publishing is tried again without the model", async () => {
  const id = await job({ steps: 2, breakAt: "publish" });
  start({ retryMs: 20 });
  await ended(id);
  const { rows } = await database.pool.query("select number from turns where job_id = $1", [id]);
  expect(rows).toHaveLength(2);
});

test("one broken job does not keep the worker from the next", async () => {
  const broken = await job({ breakAt: "openTree" });
  start({ concurrency: 1, retryMs: 20 });
  await ended(broken);
  expect(await ended(await job({}))).toMatchObject({ status: "completed" });
});

test("no more runs at a time than the worker may, however many are due", async () => {
  await database.pool.query("update projects set settings = '{\"lanes\": 100}'");
  const ids = await Promise.all(Array.from({ length: 8 }, () => job({ turnMs: 50 })));
  start({ concurrency: 2 });
  await Promise.all(ids.map(ended));
  const { rows } = await database.pool.query(
    `select max(running) from (
       select (select count(*) from job_events s where s.kind = 'run.started' and s.created_at <= e.created_at)
            - (select count(*) from job_events f where f.kind = 'completed' and f.created_at < e.created_at) as running
       from job_events e where e.kind = 'run.started') at_a_time`,
  );
  expect(Number(rows[0].max)).toBe(2);
});

test("a job is found behind hundreds of projects that wait and cannot be served", async () => {
  await database.pool.query(
    `with project as (
       insert into projects (id, name, forge, repository_url, settings)
       select 'prj_' || lpad(n::text, 4, '0'), 'full', 'local', '', '{"lanes": 0}' from generate_series(1, 450) n
       returning id
     )
     insert into jobs (id, project_id, prompt, model, repository_url, branch, created_by)
     select 'job_' || id, id, '', '', '', '', '' from project`,
  );
  await database.pool.query(
    "insert into projects (id, name, forge, repository_url) values ('prj_zzz', 'last', 'local', '')",
  );
  projectId = "prj_zzz";
  const id = await job({});
  start();
  expect(await ended(id)).toMatchObject({ status: "completed" });
});

test("a notice wakes an idle worker long before it polls", async () => {
  start({ pollMs: 600_000 });
  // The first poll finds nothing. Only the notification can cause the second.
  await database.pool.query("select pg_sleep(0.2)");
  const id = await job({});
  await database.pool.query("select pg_notify($1, $2)", [channels.jobDue, projectId]);
  expect(await ended(id)).toMatchObject({ status: "completed" });
});

test("without any notice polling finds the job", async () => {
  start();
  expect(await ended(await job({}))).toMatchObject({ status: "completed" });
});

test.each(["cancel", "archive"] as const)("a running job obeys %s at a notice, and makes room", async (action) => {
  const id = await job({ turnMs: 600_000 });
  start({ concurrency: 1, renewEveryMs: 600_000 });
  await waitForJob(database.pool, id, (row) => row.phase === "working");
  expect(await stopJob(id, action)).toMatchObject({ kind: "done", job: { isActive: false } });
  expect(await ended(await job({}))).toMatchObject({ status: "completed" });
  await expect.poll(() => outcomes).toEqual(["stopped", "completed"]);
  expect(await readJob(database.pool, id)).toMatchObject({ ref: null, pr_link: null });
});

test("a job that is cancelled before it runs is not run", async () => {
  const id = await job({});
  await stopJob(id, "cancel");
  start();
  await ended(await job({}));
  expect(await readJob(database.pool, id)).toMatchObject({ status: "failed", failure_code: "cancelled" });
  expect((await database.pool.query("select 1 from turns where job_id = $1", [id])).rowCount).toBe(0);
});

test("an archive that comes while the job publishes waits for the pull request; a cancel is refused", async () => {
  const id = await job({ publishMs: 600 });
  start();
  await waitForJob(database.pool, id, (row) => row.phase === "publishing");
  expect(await stopJob(id, "cancel")).toEqual({ kind: "publishing" });
  expect(await stopJob(id, "archive", 60_000)).toMatchObject({ kind: "done" });
  expect(await readJob(database.pool, id)).toMatchObject({
    status: "archived",
    pr_link: `http://forge.test/${id}`,
    runs: 1,
  });
});

test("a run whose lease was taken away is broken off, and makes room for the next", async () => {
  const id = await job({ turnMs: 600_000 });
  start({ concurrency: 1 });
  await waitForJob(database.pool, id, (row) => row.phase === "working");
  await alterJob(database.pool, id, "status = 'archived', lease = null");
  expect(await ended(await job({}))).toMatchObject({ status: "completed" });
  expect(await readJob(database.pool, id)).toMatchObject({ status: "archived" });
});

// Each kind of wait of a run, none of which hears its signal.
const never = () => new Promise<never>(() => {});
const hangs: Record<string, (stages: Stages) => Partial<Stages>> = {
  "its tree": () => ({ openTree: never }),
  "a model": () => ({ runAgent: never }),
  "a model's second turn": (stages) => ({
    runAgent: async (job, work, signal) => {
      const saveStep: typeof work.saveStep = async (...step) => {
        await work.saveStep(...step);
        await never();
      };
      return stages.runAgent(job, { ...work, saveStep }, signal);
    },
  }),
  "the review": () => ({ review: never }),
  "the diff": () => ({ diff: never }),
  "the search for what was refused": () => ({ findRefused: never }),
  "the search for what touches it": () => ({ findTouching: never }),
  "its kind": () => ({ classify: never }),
  "its pictures": () => ({ takePictures: never }),
  "the moved base": () => ({ openOnMovedBase: never }),
  "its forge": () => ({ publish: never }),
};
const impatient = { concurrency: 1, stepMsMin: 100, stepGraceMs: 100, leaveMsMax: 50, retriesMax: 0 };

test.each(Object.keys(hangs))("a run that waits for %s for ever is released, and the next one runs", async (name) => {
  await database.pool.query(
    "update projects set settings = jsonb_build_object('limits', '{\"wallTimeMsMax\": 100}'::jsonb)",
  );
  const stuck = await job({ steps: 1 });
  const next = await job({ steps: 1 });
  start(impatient, database.pool, undefined, (stages) => {
    const changed = hangs[name]?.(stages) ?? {};
    return Object.fromEntries(
      Object.entries(changed).map(([stage, hang]) => [
        stage,
        (leased: LeasedJob, ...rest: unknown[]) =>
          (
            (leased.id === stuck ? hang : stages[stage as keyof Stages]) as ((...all: unknown[]) => unknown) | undefined
          )?.(leased, ...rest) ?? null,
      ]),
    ) as Partial<Stages>;
  });
  expect(await ended(stuck)).toMatchObject({
    failure_code: "internal",
    failure_message: expect.stringContaining("no progress"),
    lease: null,
  });
  expect(await ended(next)).toMatchObject({ status: "completed" });
});

test("a stop does not wait for a run that waits for ever: its job is queued again", async () => {
  const id = await job({ steps: 1 });
  start({ drainMsMax: 1_000, leaveMsMax: 50 }, database.pool, undefined, () => ({ runAgent: never }));
  await waitForJob(database.pool, id, ({ phase }) => phase === "working");
  await worker?.stop();
  expect(await readJob(database.pool, id)).toMatchObject({ lease: null, status: "active" });
  expect(outcomes).toEqual(["released"]);
});

test("a stop gives its jobs back and logs one line for each, which is no warning", async () => {
  const id = await job({ turnMs: 600_000 });
  start({ drainMsMax: 100 });
  await waitForJob(database.pool, id, (row) => row.phase === "working");
  lines.length = 0;
  await worker?.stop();
  // It waits no longer than it may: on a busy machine the run ends a moment later.
  const runs = () => lines.filter(({ msg, level }) => level >= 40 || msg.startsWith("run "));
  await expect.poll(runs).toMatchObject([{ level: 30, msg: "run ended", outcome: "released" }]);
  expect(await readJob(database.pool, id)).toMatchObject({ status: "active", phase: "queued" });
});

test("after a crash, the next run ends a change that policy denied, without calling a model", async () => {
  const id = await job({ steps: 2 });
  const denied = { kind: "denied", violations: [{ path: ".github/x.yml", rule: "ci files" }] };
  await database.pool.query("update jobs set findings = $2 where id = $1", [id, denied]);
  start();
  expect(await ended(id)).toMatchObject({ status: "failed", failure_code: "policy_denied", pr_link: null });
  const { rowCount } = await database.pool.query("select 1 from turns where job_id = $1", [id]);
  expect(rowCount).toBe(0);
});

test("a busy worker finishes its jobs for a job that must run alone, and then continues with others", async () => {
  const busy = await job({ steps: 80, turnMs: 100 });
  start();
  await waitForJob(database.pool, busy, (row) => row.usage?.steps >= 1);
  // In one transaction: the worker has a free slot, and would claim it before it is marked.
  const lone = await inTransaction(database.pool, async (client) => {
    const id = await seedJob(client, projectId, JSON.stringify({}));
    await alterJob(client, id, "crashes = 2");
    return id;
  });
  expect(await ended(lone)).toMatchObject({ status: "completed", runs: 1 });
  expect(await readEvents(database.pool, busy)).toContainEqual(
    expect.objectContaining({ kind: "phase", data: expect.objectContaining({ reason: "released" }) }),
  );
  await waitForJob(database.pool, busy, (row) => row.runs === 2);
});

test("a preview ends with its diff, and nothing was pushed", async () => {
  const id = await job({ steps: 1 });
  await alterJob(database.pool, id, "preview = true");
  start();
  expect(await ended(id)).toMatchObject({ status: "completed", pr_link: null, ref: null, pushed: false, title: "T" });
  const { rowCount } = await database.pool.query("select 1 from pushes where job_id = $1", [id]);
  expect(rowCount).toBe(0);
});

test("a run whose job was ended from outside counts as stopped, one that another took over as lost", async () => {
  const ends = { stopped: "failure_code = 'cancelled'", lost: "failure_code = 'internal'" };
  for (const [outcome, how] of Object.entries(ends)) {
    const id = await job({ steps: 50, turnMs: 20 });
    start();
    await waitForJob(database.pool, id, (row) => row.usage?.steps >= 1);
    await alterJob(database.pool, id, `status = 'failed', lease = null, lease_until = null, ${how}`);
    await expect.poll(() => outcomes).toEqual([outcome]);
    await worker?.stop();
  }
});

test("a worker leaves jobs to their home workers, and says when its slots are in use", async () => {
  const rooms: boolean[] = [];
  let slots: Buffer | null = Buffer.alloc(128);
  const asked: (Buffer | null)[] = [];
  const homeSlots = async () => {
    asked.push(slots);
    return slots;
  };
  const id = await job({ steps: 3, turnMs: 20 });
  start({ concurrency: 1, homeMs: 3_600_000 }, database.pool, {
    tellRoom: (hasRoom) => void rooms.push(hasRoom),
    homeSlots,
  });
  await expect.poll(() => asked.length).toBeGreaterThan(1);
  expect(await readJob(database.pool, id)).toMatchObject({ status: "active", runs: 0 });
  slots = null;
  expect(await ended(id)).toMatchObject({ status: "completed", runs: 1 });
  await expect.poll(() => rooms.lastIndexOf(true) > rooms.indexOf(false) && rooms[0]).toBe(true);
});
