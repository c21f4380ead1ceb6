import { setTimeout as pause } from "node:timers/promises";
import { type Experiment, scaled } from "./experiment.ts";
import { postJob, untilAllEnded } from "./post-job.ts";
import { chaosPrompt, makeInstallation, type ServeProcess, startServe } from "./serve-process.ts";

const exitMsMax = 30_000;

export const rollingRestarts: Experiment = {
  name: "rolling-restarts",
  claim: "50 rolling restarts of two nodes under load: no 5xx from a healthy node, no job lost, exit 0 within 30 s",
  async run(setting) {
    const { pool, url, random, history } = setting;
    const installation = await makeInstallation(url);
    const nodes: ServeProcess[] = [];
    // A load balancer removes a node before it is stopped.
    let healthy: readonly ServeProcess[] = [];
    let isOver = false;
    let posted = 0;
    const client = async () => {
      while (!isOver) {
        posted += 1;
        const target = () => ({ ports: healthy.map(({ port }) => port), ...installation });
        await postJob(target, chaosPrompt, `post ${posted}`, history);
        await pause(random() * 600);
      }
    };
    try {
      for (const _ of [1, 2]) nodes.push(await startServe(installation.env));
      healthy = nodes;
      const load = Promise.all([client(), client(), client()]);
      for (let n = 0; n < scaled(50, setting); n += 1) {
        const index = n % nodes.length;
        const leaving = nodes[index] as ServeProcess;
        healthy = nodes.filter((node) => node !== leaving);
        const { code, elapsedMs } = await leaving.stop();
        history.add({ kind: "fault", what: "restart" });
        if (code !== 0) history.add({ kind: "unexpected", what: `a node that was told to stop ended with ${code}` });
        history.add({ kind: "recovered", afterMs: elapsedMs, msMax: exitMsMax });
        nodes[index] = await startServe(installation.env);
        healthy = nodes;
      }
      isOver = true;
      await load;
      await untilAllEnded(pool);
    } finally {
      isOver = true;
      await Promise.all(nodes.map((node) => node.stop()));
      await installation.remove();
    }
  },
};
