import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import type pg from "pg";
import { ServerClient } from "../db/server-client.ts";
import { type Lease, renewLeases } from "../jobs/run/leases.ts";
import type { LeaseThreadData, LeaseThreadOrder, LeaseThreadReport } from "./keep-leases.ts";

const { databaseUrl, leaseMs, renewEveryMs, stallMsMax, ticks, leases } = workerData as LeaseThreadData;
let client: pg.Client | null = null;
const held = new Map<string, Lease>(leases.map((lease) => [lease.token, lease]));
/** A connection that hangs must not cost a lease: two retries fit into it. */
const answerMsMax = Math.min(leaseMs / 4, 5_000);
const retryMs = Math.min(renewEveryMs, 1_000);

parentPort?.on("message", (order: LeaseThreadOrder) => {
  if (order.kind === "hold") held.set(order.lease.token, order.lease);
  if (order.kind === "drop") held.delete(order.lease.token);
  // In a worker thread this ends only the thread.
  if (order.kind === "close") void Promise.resolve(client?.end()).finally(() => process.exit());
});
const report = (message: LeaseThreadReport) => parentPort?.postMessage(message);

let lastTick = -1;
let lastTickAtMs = performance.now();
function mainLoopLives(): boolean {
  const tick = Atomics.load(ticks, 0);
  if (tick !== lastTick) {
    lastTick = tick;
    lastTickAtMs = performance.now();
  }
  return performance.now() - lastTickAtMs < stallMsMax;
}

async function connect(): Promise<pg.Client> {
  const fresh = new ServerClient({
    connectionString: databaseUrl,
    application_name: "emend leases",
    connectionTimeoutMillis: answerMsMax,
    query_timeout: answerMsMax,
    keepAlive: true,
  });
  // The next query reports the error. Without a listener it would end the thread.
  fresh.on("error", () => {});
  await fresh.connect();
  return fresh;
}

async function renew(): Promise<void> {
  client ??= await connect();
  const tokens = await renewLeases(client, [...held.values()], leaseMs);
  for (const token of tokens) held.delete(token);
  if (tokens.length > 0) report({ kind: "lost", tokens });
}

for (;;) {
  let pauseMs = renewEveryMs;
  if (held.size > 0 && mainLoopLives()) {
    await renew().catch((error: Error) => {
      report({ kind: "failed", message: error.message });
      // The connection is discarded: after a timeout it may still return the previous query's result.
      client?.end().catch(() => {});
      client = null;
      pauseMs = retryMs;
    });
  }
  await pause(pauseMs);
}
