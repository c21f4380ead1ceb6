import { setTimeout as pause } from "node:timers/promises";
import { createLogger } from "@emend/base/logger.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { type ServingProcess, spawnServing } from "@emend/testkit/spawn-process.ts";
import { createPool } from "../../server/src/db/pool.ts";
import { claimRun } from "../../server/src/jobs/run/claim-run.ts";
import { endRun } from "../../server/src/jobs/run/end-run.ts";
import { seedProjects } from "../bench/database.ts";
import { type Experiment, scaled } from "./experiment.ts";
import { postJob } from "./post-job.ts";

const claimers = 16;
/** One lane, so that every end of a job is a race for it. */
const lanes = 1;
/** Projects with jobs that are not due: a claim looks at them first, which makes its count older. */
const bystanders = 199;

export const racingClaims: Experiment = {
  name: "racing-claims",
  claim: "16 claimers race for 2,000 jobs of a project with one lane: never two at once",
  async run(setting) {
    const { url, random, history } = setting;
    const pool = createPool({ url, connectionsMax: claimers, log: createLogger({ level: "silent" }) });
    try {
      for (let n = 0; n < bystanders; n += 1) await seedJob(pool, await seedProject(pool), "Later.");
      await pool.query("update jobs set run_after = clock_timestamp() + interval '1 day'");
      const projectId = await seedProject(pool, { lanes });
      const jobs = scaled(2_000, setting);
      for (let n = 0; n < jobs; n += 1)
        history.add({ kind: "accepted", jobId: await seedJob(pool, projectId, `Job ${n}.`) });
      history.add({ kind: "expected", jobs });
      let ended = 0;
      const claimer = async () => {
        while (ended < jobs) {
          const { job } = await claimRun(pool, {
            lanes,
            leaseMs: 60_000,
            lookAfter: "",
            concurrency: 4,
            running: [{ crashes: 0 }],
          });
          if (job === null) continue;
          await pause(5 + random() * 25);
          await endRun(pool, job.lease, { kind: "completed", summary: "Done." });
          ended += 1;
        }
      };
      await Promise.all(Array.from({ length: claimers }, claimer));
      history.add({ kind: "fault", what: `${claimers} claimers at once` });
      await pool.query("delete from jobs where project_id <> $1", [projectId]);
    } finally {
      await pool.end();
    }
  },
};

const clients = 40;
const rushes = 20;
const rushQuota = 5;

export const racingCreates: Experiment = {
  name: "racing-creates",
  claim:
    "2 API processes, 40 clients, 2,000 creates in a project with a quota of 100, and 40 at once in each of 20 with a quota of five: exactly 200 are accepted",
  async run(setting) {
    const { pool, url, history } = setting;
    const quota = scaled(100, setting);
    const { projectIds, key } = await seedProjects(pool, 1 + rushes);
    const [steady = "", ...rushed] = projectIds;
    await pool.query(
      "update projects set settings = jsonb_set(settings, '{createsPerHourMax}', to_jsonb(case id when $1 then $2::int else $3 end))",
      [steady, quota, rushQuota],
    );
    const script = new URL("../../testkit/src/api-process.ts", import.meta.url);
    const nodes = await Promise.all([1, 2].map(() => spawnServing(script, [url])));
    const post = async (projectId: string, n: number) => {
      // Without an idempotency key, whose lock would replace the quota's.
      const response = await fetch(`http://127.0.0.1:${nodes[n % 2]?.port}/v2/agent/${projectId}/job`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ prompt: "{}" }),
      });
      const text = await response.text();
      if (response.status === 201) history.add({ kind: "accepted", jobId: JSON.parse(text).id });
      else if (response.status !== 429) history.add({ kind: "unexpected", what: `a create got ${response.status}` });
    };
    let left = 20 * quota;
    const client = async (n: number) => {
      while (left-- > 0) await post(steady, n);
    };
    const atOnce = (send: (n: number) => Promise<void>) =>
      Promise.all(Array.from({ length: clients }, (_, n) => send(n)));
    try {
      for (const projectId of rushed) await atOnce((n) => post(projectId, n));
      await atOnce(client);
      history.add({ kind: "fault", what: `${clients} clients at once` });
      history.add({ kind: "expected", jobs: quota + rushes * rushQuota });
      await pool.query("update jobs set status = 'completed'");
    } finally {
      await Promise.all(nodes.map((node) => node.stop()));
    }
  },
};

const script = new URL("../../testkit/src/api-process.ts", import.meta.url);

export const repeatedPosts: Experiment = {
  name: "repeated-posts",
  claim: "200 idempotency keys, 20 posts each at once, 20 API processes killed: 200 jobs",
  async run(setting) {
    const { pool, url, random, history } = setting;
    const [keys, kills] = [scaled(200, setting), scaled(20, setting)];
    const { projectIds, key } = await seedProjects(pool, 1);
    const nodes: ServingProcess[] = await Promise.all([1, 2].map(() => spawnServing(script, [url])));
    const target = () => ({ ports: nodes.map(({ port }) => port), projectId: projectIds[0] ?? "", key });
    let next = 0;
    const client = async () => {
      while (next < keys) {
        const name = `key ${next++}`;
        await Promise.all(Array.from({ length: 20 }, () => postJob(target, "{}", name, history)));
        // Keeps posting while nodes are killed.
        await pause(random() * 80);
      }
    };
    const killer = async () => {
      for (let n = 0; n < kills; n += 1) {
        await pause(random() * 300);
        const victim = nodes[n % 2];
        victim?.process.kill("SIGKILL");
        history.add({ kind: "fault", what: "API killed" });
        nodes[n % 2] = await spawnServing(script, [url]);
      }
    };
    try {
      await Promise.all([client(), client(), killer()]);
      history.add({ kind: "expected", jobs: keys });
      await pool.query("update jobs set status = 'completed'");
    } finally {
      await Promise.all(nodes.map((node) => node.stop()));
    }
  },
};
