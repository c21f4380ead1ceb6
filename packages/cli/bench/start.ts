// Measures how long the checkout's commands take to start, beside Node itself, and `serve` on a data folder that exists. Targets:
// `emend --version` at most 0.3 s, `serve` ready within 1.5 s, at most 160 MB then.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { memoryMb, processorMs } from "../../lab/bench/processor-time.ts";

const rounds = 7;
const emend = join(import.meta.dirname, "..", "bin", "emend.cjs");
const data = mkdtempSync(join(tmpdir(), "emend-bench-start-"));
// As root, Postgres runs as another user, who must be able to enter.
chmodSync(data, 0o711);

function run(args: readonly string[]): number {
  const startedAt = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}`);
  return performance.now() - startedAt;
}

/** Of the server alone, without its Postgres. */
async function serve(): Promise<{ ms: number; processorMs: number; memoryMb: number }> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [emend, "serve", "--port", "0", "--data", data], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('"ready"')) break;
  const ms = performance.now() - startedAt;
  const pid = child.pid ?? 0;
  const sample = { ms, processorMs: processorMs(pid, "alone"), memoryMb: memoryMb(pid, "alone") };
  child.kill("SIGTERM");
  await exited;
  return sample;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
try {
  // Make the bundle and the cluster.
  run([emend, "--version"]);
  await serve();
  const bare: number[] = [];
  const version: number[] = [];
  const ready: Awaited<ReturnType<typeof serve>>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(run(["-e", "0"]));
    version.push(run([emend, "--version"]));
    ready.push(await serve());
  }
  const seconds = (values: readonly number[]) => `${(median(values) / 1000).toFixed(2)} s`;
  console.log(`load ${loadavg()[0]?.toFixed(1)}, medians of ${rounds} rounds
node -e 0                ${seconds(bare)}
emend --version          ${seconds(version)}, ${(median(version) / median(bare)).toFixed(1)} times Node alone (aim 0.3 s)
emend serve, until ready ${seconds(ready.map(({ ms }) => ms))}, ${seconds(ready.map((one) => one.processorMs))} of processor time, ${Math.round(median(ready.map((one) => one.memoryMb)))} MB (aims 1.5 s, 160 MB)`);
} finally {
  rmSync(data, { recursive: true, force: true });
}
