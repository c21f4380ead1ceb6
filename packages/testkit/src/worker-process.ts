// A worker with scripted stages as a separate process, which tests kill, freeze and stop.
import { writeSync } from "node:fs";
import { createLogger } from "@emend/base/logger.ts";
import { startListener } from "../../server/src/db/listener.ts";
import { createPool } from "../../server/src/db/pool.ts";
import { type CrashPoint, createCrashPoint } from "../../server/src/run/crash-points.ts";
import { startWorker, type WorkerOptions } from "../../server/src/run/worker.ts";
import type { ScriptedForgeOptions } from "./scripted-forge.ts";
import { scriptedStages } from "./scripted-stages.ts";

export interface WorkerOrder {
  databaseUrl: string;
  name: string;
  crashAt?: string;
  /** Sends itself SIGSTOP, like a suspended machine, when a run first reaches this point. */
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
    // Written synchronously: a buffered log line would appear only after the process continues.
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
// The parent has died, so no other process would stop this one.
process.stdin.resume().once("end", () => process.exit(1));
process.stdin.unref();
