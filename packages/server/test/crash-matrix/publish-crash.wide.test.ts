// Costly: only a killed or frozen process stops between two statements.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { publishCrashPoints } from "@emend/publish";
import { personGit, startTestForge, type TestForge } from "@emend/testkit/forge.ts";
import { findProcess } from "@emend/testkit/processes.ts";
import type { PublishOrder } from "@emend/testkit/publish-child.ts";
import { type PublishNode, publishTestJob } from "@emend/testkit/publish-job.ts";
import { seedJob } from "@emend/testkit/seed-jobs.ts";
import { programOf } from "@emend/testkit/test-programs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const childScript = programOf(new URL("../../../testkit/src/publish-child.ts", import.meta.url));
const projectId = "prj_crash";
let host: TestForge;
let otherNode: PublishNode;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  host = await startTestForge();
  const docs = join(host.dir, "docs/guides");
  await mkdir(docs, { recursive: true });
  await writeFile(join(docs, "start.md"), "# Start\n\nUse your API token.\n");
  const forge = await host.addProject(projectId, join(host.dir, "docs"));
  const { pool } = host.database;
  otherNode = { pool, git: host.git, forge, mirrorsDir: join(host.dir, "mirrors-other") };
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await host.close();
});

function startWorker(jobId: string, point: Pick<PublishOrder, "crashAt" | "freezeAt">): ChildProcess {
  const order: PublishOrder = {
    databaseUrl: host.database.url,
    forgeDir: host.forgeDir,
    mirrorsDir: join(host.dir, "mirrors"),
    publicUrl: host.url,
    projectId,
    jobId,
    authorization: `Bearer ${host.keyOf(projectId, "write")}`,
    ...point,
  };
  const child = spawn(process.execPath, [childScript, JSON.stringify(order)], { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  return child;
}

/** The branches and pull requests that the forge has for a job, read with an ordinary key. */
async function published(jobId: string): Promise<{ branches: number; pullRequests: number }> {
  const url = new URL(`${host.url}/git/${projectId}.git`);
  url.username = "anyone";
  url.password = host.keyOf(projectId, "read");
  const branches = await personGit(host.dir, "ls-remote", "--heads", url.href, `*${jobId}*`);
  const pullRequests = await otherNode.forge.findPullRequests({ head: `emend/${jobId}` }, host.signal);
  return { branches: branches.split("\n").filter(Boolean).length, pullRequests: pullRequests.length };
}

describe("a worker killed while it publishes", () => {
  const title = `at %s leaves one branch and one pull request once another carries on`;
  it.each(publishCrashPoints)(title, async (point) => {
    const jobId = await seedJob(host.database.pool, projectId);
    const worker = startWorker(jobId, { crashAt: point });
    expect(await once(worker, "exit")).toEqual([null, "SIGKILL"]);

    const publication = await publishTestJob(otherNode, jobId);
    expect(publication.kind).toBe(point === "after-create" ? "found" : "opened");
    expect(await published(jobId)).toEqual({ branches: 1, pullRequests: 1 });

    expect(await publishTestJob(otherNode, jobId)).toEqual({ ...publication, kind: "found" });
    expect(await published(jobId)).toEqual({ branches: 1, pullRequests: 1 });
  });
});

describe("a worker frozen while it publishes", () => {
  it.each(["before-push", "before-create"] as const)("at %s changes nothing once another was there", async (point) => {
    const jobId = await seedJob(host.database.pool, projectId);
    const worker = startWorker(jobId, { freezeAt: point });
    await untilStopped(worker);
    const publication = await publishTestJob(otherNode, jobId);
    expect(publication.kind).toBe("opened");

    worker.kill("SIGCONT");
    const [code] = await once(worker, "exit");
    // It repeats the identical push, and then finds that its lease is gone or that the pull request exists.
    expect(code).toBe(point === "before-push" ? 1 : 0);
    expect(await published(jobId)).toEqual({ branches: 1, pullRequests: 1 });
    expect(await publishTestJob(otherNode, jobId)).toEqual({ ...publication, kind: "found" });
  });
});

async function untilStopped(worker: ChildProcess): Promise<void> {
  for (;;) {
    if (findProcess(worker.pid ?? 0)?.state === "T") return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
