import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Experiment } from "./experiment.ts";
import { postJob, untilAllEnded } from "./post-job.ts";
import { chaosPrompt, makeInstallation, startServe } from "./serve-process.ts";

const minutes = 120;
const growthMax = 1.3;
const measures = {
  memory: "MB",
  "open files": "",
  "files in mirrors": "",
  "files in the local forge for each job": "",
  "database for each job": "kB",
} as const;
type Sample = Record<keyof typeof measures, number>;

export const soak: Experiment = {
  name: "soak",
  claim: "2 hours of load: memory, open files and mirrors of the process stay level, a job's share of the tables too",
  async run(setting) {
    const { pool, url, history, scale } = setting;
    const installation = await makeInstallation(url);
    const node = await startServe(installation.env);
    const untilMs = performance.now() + minutes * 60_000 * scale;
    const samples: Sample[] = [];
    let posted = 0;
    const client = async () => {
      while (performance.now() < untilMs) {
        posted += 1;
        const target = () => ({ ports: [node.port], ...installation });
        await postJob(target, chaosPrompt, `post ${posted}`, history);
        await pause(1_500);
        // A slow machine gets as much load as it can take, and no queue that grows.
        await untilAllEnded(pool, 8);
      }
    };
    const watch = async () => {
      while (performance.now() < untilMs) {
        await pause((minutes * 60_000 * scale) / 60);
        const { rows } = await pool.query<{ bytes: string }>("select pg_database_size(current_database()) as bytes");
        samples.push({
          ...resourcesOf(node.child.pid ?? 0),
          "files in mirrors": countFiles(installation.env.EMEND_DATA_DIR ?? ""),
          "files in the local forge for each job": countFiles(installation.env.EMEND_FORGE_DIR ?? "") / posted,
          "database for each job": Number(rows[0]?.bytes) / 1024 / posted,
        });
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
    history.add({ kind: "measured", what: "duration", value: minutes * scale, unit: "minutes" });
    for (const [what, unit] of Object.entries(measures) as [keyof Sample, string][]) {
      const [before, after] = [samples.slice(third, 2 * third), samples.slice(2 * third)].map(
        (part) => part.reduce((sum, sample) => sum + sample[what], 0) / part.length,
      ) as [number, number];
      const name = `${what} (${Math.round(before)} in the second third)`;
      history.add({ kind: "measured", what: name, value: after, unit });
      if (after > before * growthMax)
        history.add({
          kind: "unexpected",
          what: `${what} grew from ${before.toFixed(1)} to ${after.toFixed(1)} ${unit}`,
        });
    }
  },
};

function resourcesOf(pid: number): Pick<Sample, "memory" | "open files"> {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { memory: Number(kilobytes) / 1024, "open files": readdirSync(`/proc/${pid}/fd`).length };
}

/** Files come and go while they are counted. */
function countFiles(dir: string): number {
  try {
    return readdirSync(dir, { recursive: true }).length;
  } catch {
    return countFiles(dir);
  }
}
