// Costly: only a killed process loses what was in memory alone.
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { createAnswerMemory } from "@emend/forges";
import { createWriteQueue, publishCrashPoints } from "@emend/publish";
import { startTestForge, type TestForge } from "@emend/testkit/forge.ts";
import { type ForgeWorkerOrder, startForgeWorker } from "@emend/testkit/forge-worker.ts";
import { type FarEnd, startFarEnd, type Vendor } from "@emend/testkit/forges/far-end.ts";
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { createOperation, vendors } from "@emend/testkit/forges/vendors.ts";
import { readJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { programOf } from "@emend/testkit/test-programs.ts";
import { expireLeases, isFinal, waitForJob } from "@emend/testkit/worker-control.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startListener } from "../../src/db/listener.ts";
import { cancelJob } from "../../src/jobs/job-actions.ts";
import { messageJob, messageQuota } from "../../src/jobs/message-job.ts";
import { createJobReader, type JobReader } from "../../src/jobs/read/job-reader.ts";
import type { CrashPoint } from "../../src/run/crash-points.ts";
import { setDetails } from "../../src/run/pull-request-outbox.ts";
import { pollOnce, type WatchDeps } from "../../src/run/watch-pull-requests.ts";

const points: readonly (CrashPoint | `${CrashPoint}:2`)[] = [
  "after-claim",
  "after-load",
  "after-tree-opened",
  "after-base-pinned",
  "before-step-stored",
  "after-step-stored",
  "before-step-stored:2",
  "after-step-stored:2",
  "before-review",
  "after-review",
  "before-change-stored",
  "after-change-stored",
  "before-base-taken-in",
  "after-base-taken-in",
  ...publishCrashPoints,
  "before-pull-request-stored",
  "after-pull-request-stored",
  "before-end",
  "after-end",
];
/** The last is GitHub with an App, where GitHub creates the commits. */
const forges = ["local", "github", "gitlab", "gitea", "bitbucket", "azure-devops", "app"] as const;
const prompt = 'Replace "API token" with "access key", and add a page guides/new titled "New".';

/** Services that can be unavailable. */
const awayForges = forges.filter((name) => name !== "local");

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const appCredential = JSON.stringify({ appId: "5", privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) });
const childScript = programOf(new URL("../../../testkit/src/forge-worker-process.ts", import.meta.url));
let host: TestForge;
const farEnds = new Map<string, FarEnd>();
const dir = mkdtempSync(join(tmpdir(), "emend-matrix-"));

beforeAll(async () => {
  host = await startTestForge();
  const { pool } = host.database;
  await pool.query("create table turns (job_id text, number int, stored boolean)");
  await mkdir(join(host.dir, "docs/guides"), { recursive: true });
  await writeFile(join(host.dir, "docs/guides/start.md"), "# Start\n\nUse your API token.\n");
  await host.addProject("prj_local", join(host.dir, "docs"));
  const app = { name: "app", vendor: githubVendor, verifiedCommits: true };
  for (const { name, vendor, verifiedCommits } of [...vendors.map(plainForge), app]) {
    const far = await startFarEnd(vendor);
    farEnds.set(name, far);
    await pool.query("insert into projects (id, name, forge, repository_url, settings) values ($1, $2, $3, $4, $5)", [
      `prj_${name}`,
      name,
      vendor.name,
      far.repositoryUrl,
      { forge: { labels: ["docs"], reviewers: ["ada"], verifiedCommits } },
    ]);
  }
});
afterAll(async () => {
  for (const far of farEnds.values()) await far.close();
  await host.close();
  rmSync(dir, { recursive: true, force: true });
  expect([...farEnds.values()].flatMap((far) => far.violations)).toEqual([]);
});

function plainForge(vendor: Vendor) {
  return { name: vendor.name, vendor, verifiedCommits: false };
}

/** What the forge has for a job. */
async function published(forge: string, jobId: string): Promise<{ branches: number; pulls: number }> {
  const far = farEnds.get(forge);
  if (far) {
    const branches = far.state.repository.git("for-each-ref", "--format=%(refname)", `refs/heads/emend/${jobId}`);
    return { branches: branches.split("\n").filter(Boolean).length, pulls: far.pullsOf(`emend/${jobId}`).length };
  }
  const local = host.open("prj_local");
  const tips = await host.git.must(
    {
      gitDir: join(host.forgeDir, "prj_local.git"),
      args: ["for-each-ref", "--format=%(refname)", `refs/heads/emend/${jobId}`],
      timeMsMax: 10_000,
      outputBytesMax: 10_000,
    },
    host.signal,
  );
  const pulls = await local.findPullRequests({ head: `emend/${jobId}` }, host.signal);
  return { branches: tips.toString().split("\n").filter(Boolean).length, pulls: pulls.length };
}

function orderFor(forge: string, node: string): ForgeWorkerOrder {
  return {
    databaseUrl: host.database.url,
    dir: join(dir, node),
    forgeDir: host.forgeDir,
    publicUrl: host.url,
    token: forge === "app" ? appCredential : (farEnds.get(forge)?.token ?? ""),
  };
}

describe.each(forges)("on %s", { timeout: 120_000 }, (forge) => {
  it.each(points)(`a worker that dies at %s leaves one branch and one pull request`, async (at) => {
    const { pool } = host.database;
    const jobId = await seedJob(pool, `prj_${forge}`, prompt);
    // A worker that dies before the request leaves its successor to wait out the forge's limit, which is 60 s or more.
    const secondMs = 20;
    const order = { ...orderFor(forge, "first"), secondMs, crashAt: at };
    const doomed = spawn(process.execPath, [childScript, JSON.stringify(order)], {
      stdio: ["pipe", "ignore", "inherit"],
    });
    expect(await once(doomed, "exit")).toEqual([null, "SIGKILL"]);

    await expireLeases(pool);
    const second = await startForgeWorker({ ...orderFor(forge, "second"), secondMs });
    const ended = await waitForJob(pool, jobId, isFinal).finally(() => second.stop());
    expect(ended).toMatchObject({ status: "completed", pr_link: expect.stringMatching(/^http/), lease: null });
    expect(await published(forge, jobId)).toEqual({ branches: 1, pulls: 1 });
    const { rows } = await pool.query("select number from turns where job_id = $1 and stored", [jobId]);
    expect(rows).toEqual([]);
    const far = farEnds.get(forge);
    if (far) {
      const { rows: asked } = await pool.query("select kind from tasks where subject = $1", [jobId]);
      expect(asked).toEqual([{ kind: "set_details" }]);
      const settings = { labels: ["docs"], reviewers: ["ada"] };
      const forgeOf = async () => far.open(settings, orderFor(forge, "second").token);
      await setDetails({ pool, writes: createWriteQueue(), forgeOf }, jobId, host.signal);
      const [pull] = far.pullsOf(`emend/${jobId}`);
      // Bitbucket has no labels.
      const labels = forge === "bitbucket" ? [] : ["docs"];
      expect(pull).toMatchObject({ labels, reviewers: ["ada"], state: "open" });
    }
  });
});

/** From the question to the turn that heard the answer. */
const conversationPoints: readonly (CrashPoint | `${CrashPoint}:2`)[] = [
  "before-step-stored",
  "after-step-stored",
  "before-question-told",
  "after-question-told",
  "after-interjections-read",
  "before-step-stored:2",
  "after-step-stored:2",
];

describe.each(forges)("in a conversation on %s", { timeout: 120_000 }, (forge) => {
  it.each(conversationPoints)(
    `a worker that dies at %s asks once, hears the answer once and leaves one pull request`,
    async (at) => {
      const { pool } = host.database;
      const projectId = `prj_${forge}`;
      await pool.query("update projects set settings = settings || '{\"secondReader\": false}' where id = $1", [
        projectId,
      ]);
      const jobId = await seedJob(pool, projectId, "Call it as the product does.");
      await pool.query("update jobs set created_by = 'key/k' where id = $1", [jobId]);
      const times = { secondMs: 20, asks: true };
      const order = { ...orderFor(forge, "first"), ...times, crashAt: at };
      const doomed = spawn(process.execPath, [childScript, JSON.stringify(order)], {
        stdio: ["pipe", "ignore", "inherit"],
      });
      const second = once(doomed, "exit").then(async () => {
        await expireLeases(pool);
        return startForgeWorker({ ...orderFor(forge, "second"), ...times });
      });
      await waitForJob(pool, jobId, (row) => row.waiting_for === "answer" && row.waiting_since !== null);
      const reader = { forget() {} } as unknown as JobReader;
      const answer = { id: jobId, projectId, prompt: "access key", createdBy: "key/k" };
      const said = await messageJob({ pool, reader, pullRequestState: async () => null }, messageQuota, answer);
      expect(said.kind).toBe("accepted");
      const worker = await second;
      const ended = await waitForJob(pool, jobId, isFinal).finally(() => worker.stop());
      expect(ended).toMatchObject({ status: "completed", pr_link: expect.stringMatching(/^http/), lease: null });
      expect(await published(forge, jobId)).toEqual({ branches: 1, pulls: 1 });
      const count = async (sql: string) => (await pool.query(sql, [jobId])).rowCount;
      expect(await count("select 1 from turns where job_id = $1 and stored")).toBe(0);
      expect(await count("select 1 from job_events where job_id = $1 and kind = 'job.question'")).toBe(1);
      const heard =
        "select 1 from steps, jsonb_array_elements(messages) one (message) where job_id = $1 and message ->> 'from' = 'interjection'";
      expect(await count(heard)).toBe(1);
      expect(
        (await pool.query("select diff from jobs where id = $1", [jobId])).rows[0].diff.byteLength,
      ).toBeGreaterThan(0);
    },
  );
});

describe.each(awayForges)("on %s, which is slow", { timeout: 120_000 }, (forge) => {
  it(`a worker that is killed while the forge still opens the pull request leaves one`, async () => {
    const { pool } = host.database;
    const far = farEnds.get(forge);
    if (!far) throw new Error(forge);
    const operation = createOperation[far.vendor];
    const creates = () => far.requests.filter((request) => request.operation === operation).length;
    const before = creates();
    const jobId = await seedJob(pool, `prj_${forge}`, prompt);
    // Within every forge's limit, which is 60 s or more, and long after the second worker has looked.
    const secondMs = 100;
    far.fault(operation, { kind: "late", beforeMs: 55 * secondMs, afterMs: 0 });
    const doomed = spawn(process.execPath, [childScript, JSON.stringify({ ...orderFor(forge, "first"), secondMs })], {
      stdio: ["pipe", "ignore", "inherit"],
    });
    await expect.poll(creates, { timeout: 60_000, interval: 20 }).toBe(before + 1);
    doomed.kill("SIGKILL");
    await once(doomed, "exit");
    await expireLeases(pool);
    const second = await startForgeWorker({ ...orderFor(forge, "second"), secondMs });
    const ended = await waitForJob(pool, jobId, isFinal).finally(() => second.stop());
    expect(ended).toMatchObject({ status: "completed", pr_link: expect.stringMatching(/^http/) });
    expect(await published(forge, jobId)).toEqual({ branches: 1, pulls: 1 });
    expect(creates()).toBe(before + 1);
  });
});

describe.each(awayForges)("on %s, whose answer was lost before it went away", { timeout: 120_000 }, (forge) => {
  async function waitingJob(): Promise<{ jobId: string; far: FarEnd; worker: ChildProcess }> {
    const { pool } = host.database;
    const far = farEnds.get(forge);
    if (!far) throw new Error(forge);
    const jobId = await seedJob(pool, `prj_${forge}`, prompt);
    const goesAway = () => {
      far.state.isAway = true;
    };
    far.fault(createOperation[far.vendor], { kind: "lost", how: "reset", afterwards: goesAway });
    const worker = spawn(process.execPath, [childScript, JSON.stringify(orderFor(forge, "first"))], {
      stdio: ["pipe", "ignore", "inherit"],
    });
    await waitForJob(pool, jobId, (row) => row.waiting_since !== null && row.lease === null);
    return { jobId, far, worker };
  }
  async function kill(worker: ChildProcess): Promise<void> {
    worker.kill("SIGKILL");
    await once(worker, "exit");
    await expireLeases(host.database.pool);
  }

  it(`a worker that is killed while the job waits leaves one pull request`, async () => {
    const { pool } = host.database;
    const { jobId, far, worker } = await waitingJob();
    await kill(worker);
    far.state.isAway = false;
    const second = await startForgeWorker(orderFor(forge, "second"));
    const ended = await waitForJob(pool, jobId, isFinal).finally(() => second.stop());
    expect(ended).toMatchObject({ status: "completed", pr_link: expect.stringMatching(/^http/), waiting_since: null });
    expect(await published(forge, jobId)).toEqual({ branches: 1, pulls: 1 });
  });

  it(`a job that is cancelled while it waits tells of the pull request that was opened`, async () => {
    const { pool, url } = host.database;
    const { jobId, far, worker } = await waitingJob();
    const log = createLogger({ level: "silent" });
    const listener = await startListener({ url, log });
    const reader = createJobReader({ pool, listener });
    // A running attempt cannot be cancelled, so this polls until it has ended.
    await expect
      .poll(() => cancelJob({ pool, reader }, { id: jobId, projectId: `prj_${forge}` }, "key/k"), { timeout: 30_000 })
      .toMatchObject({ kind: "done" });
    await kill(worker);
    far.state.isAway = false;
    const credential = orderFor(forge, "first").token;
    const answers = createAnswerMemory();
    const followUp = async () => ({ kind: "later" }) as const;
    const askAnswer = async () => {};
    const forgeOf: WatchDeps["forgeOf"] = async (_id, polling) => far.open({}, credential, polling);
    const findConflicts = async () => false;
    while (await pollOnce({ pool, log, answers, followUp, askAnswer, findConflicts, forgeOf }, host.signal)) {}
    expect(await readJob(pool, jobId)).toMatchObject({
      status: "failed",
      failure_code: "cancelled",
      pr_link: far.pullsOf(`emend/${jobId}`).length === 1 ? expect.stringMatching(/^http/) : "none",
      notices: [expect.stringContaining("opened before the job was stopped")],
    });
    expect(await published(forge, jobId)).toEqual({ branches: 1, pulls: 1 });
    reader.close();
    await listener.close();
  });
});
