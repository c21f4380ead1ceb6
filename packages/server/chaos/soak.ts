import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Experiment } from "./experiment.ts";
import { chaosPrompt, makeInstallation } from "./installation.ts";
import { postJob } from "./post-job.ts";
import { startServe } from "./serve-process.ts";
import { untilAllEnded } from "./until-all-ended.ts";

const minutes = 120;
const growthMax = 1.3;

export const soak: Experiment = {
  name: "soak",
  claim: "2 hours of load: memory and open files of the process stay level, a job's share of the tables too",
  async run(setting) {
    const { pool, url, history, scale } = setting;
    const installation = await makeInstallation(url);
    const node = await startServe(installation.env);
    const untilMs = performance.now() + minutes * 60_000 * scale;
    const samples: { rssBytes: number; files: number; bytesOfJob: number }[] = [];
    let posted = 0;
    const client = async () => {
      while (performance.now() < untilMs) {
        posted += 1;
        const target = () => ({ ports: [node.port], ...installation });
        await postJob(target, chaosPrompt, `post ${posted}`, history);
        await pause(500);
      }
    };
    const watch = async () => {
      while (performance.now() < untilMs) {
        await pause((minutes * 60_000 * scale) / 60);
        const { rows } = await pool.query<{ bytes: string }>("select pg_database_size(current_database()) as bytes");
        samples.push({ ...resourcesOf(node.child.pid ?? 0), bytesOfJob: Number(rows[0]?.bytes) / posted });
      }
    };
    try {
      await Promise.all([client(), client(), watch()]);
      await untilAllEnded(pool);
    } finally {
      await node.stop();
      await installation.remove();
    }
    // The first third warms up caches.
    const third = Math.floor(samples.length / 3);
    for (const what of ["rssBytes", "files", "bytesOfJob"] as const) {
      const [before, after] = [samples.slice(third, 2 * third), samples.slice(2 * third)].map(
        (part) => part.reduce((sum, sample) => sum + sample[what], 0) / part.length,
      ) as [number, number];
      history.add({ kind: "measured", what: `${what} at the end`, value: after, unit: "" });
      if (after > before * growthMax) {
        history.add({ kind: "unexpected", what: `${what} grew from ${Math.round(before)} to ${Math.round(after)}` });
      }
    }
  },
};

function resourcesOf(pid: number): { rssBytes: number; files: number } {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { rssBytes: Number(kilobytes) * 1024, files: readdirSync(`/proc/${pid}/fd`).length };
}
