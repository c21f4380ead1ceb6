// A worker as a process of its own, with scripted stages: something to kill, freeze and stop.
import { startListener } from "../../src/db/listener.ts";
import { createPool } from "../../src/db/pool.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { createCrashPoint } from "../../src/run/crash-points.ts";
import { startWorker, type WorkerOptions } from "../../src/run/worker.ts";
import { scriptedStages } from "./scripted-stages.ts";

export interface WorkerOrder {
  databaseUrl: string;
  name: string;
  crashAt?: string;
  options: WorkerOptions;
}

const order: WorkerOrder = JSON.parse(process.argv[2] ?? "");
const log = createLogger({ level: "info", name: order.name });
const pool = createPool({ url: order.databaseUrl, connectionsMax: 4, log, name: order.name });
const listener = await startListener({ url: order.databaseUrl, log });
const crashPoint = createCrashPoint(order.crashAt);
const stages = scriptedStages({ pool, worker: order.name, crashPoint });
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
