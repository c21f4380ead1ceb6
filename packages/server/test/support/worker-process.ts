// A worker as a process of its own, with scripted stages: something to kill, freeze and stop.
import { writeSync } from "node:fs";
import { startListener } from "../../src/db/listener.ts";
import { createPool } from "../../src/db/pool.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { type CrashPoint, createCrashPoint } from "../../src/run/crash-points.ts";
import { startWorker, type WorkerOptions } from "../../src/run/worker.ts";
import type { ScriptedForgeOptions } from "./scripted-forge.ts";
import { scriptedStages } from "./scripted-stages.ts";

export interface WorkerOrder {
  databaseUrl: string;
  name: string;
  crashAt?: string;
  /** Stops itself with SIGSTOP, as a suspended machine does, when a run first reaches this point. */
  freezeAt?: CrashPoint;
  forge?: ScriptedForgeOptions;
  options: WorkerOptions;
}

const order: WorkerOrder = JSON.parse(process.argv[2] ?? "");
const log = createLogger({ level: "info", name: order.name });
const pool = createPool({ url: order.databaseUrl, connectionsMax: 4, log, name: order.name });
const listener = await startListener({ url: order.databaseUrl, log });
const crash = createCrashPoint(order.crashAt);
let isFrozen = false;
const crashPoint = (name: CrashPoint) => {
  if (name === order.freezeAt && !isFrozen) {
    isFrozen = true;
    // At once: what a logger writes later it would write after it woke.
    writeSync(1, `${JSON.stringify({ msg: "frozen" })}\n`);
    process.kill(process.pid, "SIGSTOP");
  }
  crash(name);
};
const stages = scriptedStages({ pool, worker: order.name, crashPoint, ...(order.forge && { forge: order.forge }) });
const worker = startWorker({ pool, databaseUrl: order.databaseUrl, listener, log, stages, crashPoint }, order.options);
log.info("worker ready");

process.once("SIGTERM", async () => {
  setTimeout(() => process.exit(1), 30_000).unref();
  await worker.stop();
  await listener.close();
  await pool.end();
});
// Its parent is gone: nobody would ever stop it.
process.stdin.resume().once("end", () => process.exit(1));
process.stdin.unref();
