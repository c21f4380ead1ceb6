import { setTimeout as pause } from "node:timers/promises";
import { seedProjects } from "../bench/database.ts";
import { type ServingProcess, spawnServing } from "../test/support/spawn-process.ts";
import { type Experiment, scaled } from "./experiment.ts";
import { postJob } from "./post-job.ts";

const script = new URL("../test/support/api-process.ts", import.meta.url);

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
