import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Logger } from "@emend/base/logger.ts";
import type { Lease } from "../jobs/run/leases.ts";

export interface LeaseTimes {
  leaseMs: number;
  renewEveryMs: number;
  /** If the main loop has not ticked for this long, it counts as dead and its leases are left to expire. */
  stallMsMax: number;
}

export interface LeaseKeeperOptions extends LeaseTimes {
  databaseUrl: string;
  log: Logger;
  onLost(token: string): void;
}

export interface LeaseKeeper {
  hold(lease: Lease): void;
  drop(lease: Lease): void;
  close(): Promise<void>;
}

export interface LeaseThreadData extends LeaseTimes {
  databaseUrl: string;
  ticks: Int32Array<SharedArrayBuffer>;
  leases: readonly Lease[];
}
export type LeaseThreadReport = { kind: "lost"; tokens: readonly string[] } | { kind: "failed"; message: string };
export type LeaseThreadOrder = { kind: "hold" | "drop"; lease: Lease } | { kind: "close" };

const restartMs = 1_000;
const closeMsMax = 1_000;

/**
 * Renews this process's leases from a worker thread with its own connection, so that work on the main thread never
 * costs a lease. A thread that fails is restarted with the current leases.
 */
export function startLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const leases = new Map<string, Lease>();
  const ticks = new Int32Array(new SharedArrayBuffer(4));
  const ticking = setInterval(() => Atomics.add(ticks, 0, 1), Math.min(1_000, options.stallMsMax / 4)).unref();
  let closing = false;
  let thread = startThread();

  function startThread(): Worker {
    const { databaseUrl, leaseMs, renewEveryMs, stallMsMax } = options;
    const workerData: LeaseThreadData = {
      databaseUrl,
      leaseMs,
      renewEveryMs,
      stallMsMax,
      ticks,
      leases: [...leases.values()],
    };
    const started = new Worker(new URL("./keep-leases-thread.ts", import.meta.url), {
      workerData,
      name: "emend-leases",
    });
    started.on("message", (report: LeaseThreadReport) => hear(report));
    started.on("error", (error) => options.log.error({ err: error }, "lease thread failed"));
    started.on("exit", () => {
      if (closing) return;
      setTimeout(() => {
        if (!closing) thread = startThread();
      }, restartMs);
    });
    return started;
  }

  function hear(report: LeaseThreadReport): void {
    if (report.kind === "failed") {
      options.log.warn({ reason: report.message }, "could not renew leases, retrying");
      return;
    }
    // A run that ended while its lease was being renewed is not notified.
    report.tokens.filter((token) => leases.has(token)).forEach(options.onLost);
  }

  const order = (message: LeaseThreadOrder) => thread.postMessage(message);
  return {
    hold(lease) {
      leases.set(lease.token, lease);
      order({ kind: "hold", lease });
    },
    drop(lease) {
      leases.delete(lease.token);
      order({ kind: "drop", lease });
    },
    async close() {
      closing = true;
      clearInterval(ticking);
      const exited = once(thread, "exit");
      order({ kind: "close" });
      await Promise.race([exited, pause(closeMsMax, undefined, { ref: false })]);
      await thread.terminate();
    },
  };
}
