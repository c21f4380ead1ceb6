import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { publishCrashPoints } from "../../src/publish/publication.ts";
import type { CrashPoint } from "../../src/run/crash-points.ts";
import { startTestForge, type TestForge } from "../support/forge.ts";
import { type ForgeWorkerOrder, startForgeWorker } from "../support/forge-worker.ts";
import { type FarEnd, startFarEnd, type Vendor } from "../support/forges/far-end.ts";
import { githubVendor } from "../support/forges/github.ts";
import { vendors } from "../support/forges/vendors.ts";
import { seedJob } from "../support/seed-jobs.ts";
import { expireLeases, isFinal, waitForJob } from "../support/worker-control.ts";

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
/** The last is GitHub with an App, whose commits GitHub makes. */
const forges = ["local", "github", "gitlab", "gitea", "app"] as const;
const prompt = 'Replace "API token" with "access key", and add a page guides/new titled "New".';

/** `npm run crash-matrix` runs every cell; the suite a few of them, others with each seed. */
const isWhole = process.env.MODE === "crash-matrix";
const seed = Number(process.env.EMEND_SEED ?? Math.floor(Date.now() / 86_400_000));
const samplesMax = 1;

function sampleOf(forge: (typeof forges)[number]): readonly string[] {
  if (isWhole) return points;
  const first = (seed * 7 + forges.indexOf(forge) * 11) % points.length;
  return Array.from(
    { length: samplesMax },
    (_, index) => points[(first + index * 13) % points.length] ?? "after-create",
  );
}

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const appCredential = JSON.stringify({ appId: "5", privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) });
const childScript = fileURLToPath(new URL("../support/forge-worker-process.ts", import.meta.url));
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

/** What the forge holds of a job. */
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
  it.each(sampleOf(forge))(
    `a worker that dies at %s leaves one branch and one pull request (seed ${seed})`,
    async (at) => {
      const { pool } = host.database;
      const jobId = await seedJob(pool, `prj_${forge}`, prompt);
      const order = { ...orderFor(forge, "first"), crashAt: at };
      const doomed = spawn(process.execPath, [childScript, JSON.stringify(order)], {
        stdio: ["pipe", "ignore", "inherit"],
      });
      expect(await once(doomed, "exit")).toEqual([null, "SIGKILL"]);

      await expireLeases(pool);
      const second = await startForgeWorker(orderFor(forge, "second"));
      const ended = await waitForJob(pool, jobId, isFinal).finally(() => second.stop());
      expect(ended).toMatchObject({ status: "completed", pr_link: expect.stringMatching(/^http/), lease: null });
      expect(await published(forge, jobId)).toEqual({ branches: 1, pulls: 1 });
      const { rows } = await pool.query("select number from turns where job_id = $1 and stored", [jobId]);
      expect(rows).toEqual([]);
      if (forge !== "local") {
        const [pull] = farEnds.get(forge)?.pullsOf(`emend/${jobId}`) ?? [];
        expect(pull).toMatchObject({ labels: ["docs"], reviewers: ["ada"], state: "open" });
      }
    },
  );
});
