// What the process keeps of the jobs it has done: npm run bench -- memory [--jobs 800]. The heap is measured after a full
// collection, so that it holds only what something refers to. Aim: level from the first half to the second.
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { loadConfig } from "../../server/src/config/config.ts";
import { startServer } from "../../server/src/index.ts";
import { writeResults } from "../../site/bench/results.ts";
import { chaosPrompt, makeInstallation } from "../chaos/serve-process.ts";
import { startBenchDatabase } from "./database.ts";

const { values } = parseArgs({ options: { jobs: { type: "string", default: "800" }, write: { type: "boolean" } } });
const jobs = Number(values.jobs);
const samples = 8;
setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

const database = await startBenchDatabase("silent");
const installation = await makeInstallation(database.url);
const server = await startServer(loadConfig({ ...installation.env, EMEND_PORT: "0", EMEND_LOG_LEVEL: "silent" }));
try {
  const lines = ["| jobs done | heap in use | outside of the heap | resident |", "|---:|---:|---:|---:|"];
  const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
  for (let sample = 0; sample <= samples; sample += 1) {
    if (sample > 0) await doJobs(Math.round(jobs / samples));
    collect();
    await pause(200);
    collect();
    const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
    const line = `| ${sample * Math.round(jobs / samples)} | ${megabytes(heapUsed)} | ${megabytes(external + arrayBuffers)} | ${megabytes(rss)} |`;
    lines.push(line);
    console.log(line);
  }
  if (values.write) await writeResults("memory", `npm run bench -- memory --jobs ${jobs} --write`, { table: lines });
} finally {
  await server.stop();
  await installation.remove();
  await database.close();
}

async function doJobs(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const response = await fetch(new URL(`/v2/agent/${installation.projectId}/job`, server.url), {
      method: "POST",
      headers: { authorization: `Bearer ${installation.key}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt: chaosPrompt }),
    });
    if (response.status !== 201) throw new Error(await response.text());
    await response.text();
  }
  for (;;) {
    const { rows } = await database.pool.query("select from jobs where status = 'active' limit 1");
    if (rows.length === 0) return;
    await pause(100);
  }
}
