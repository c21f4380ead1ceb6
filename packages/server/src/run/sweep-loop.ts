import { performance } from "node:perf_hooks";
import type { Pool } from "../db/pool.ts";
import { sweepLeases } from "../jobs/sweep-leases.ts";
import type { Logger } from "../lib/logger.ts";
import { createWakeUp } from "../lib/wake-up.ts";

/**
 * Looks for expired leases every `pollMs`. After the database was away it waits half a lease first: leases ran out
 * meanwhile whose workers are well and about to renew them, and an outage is no job's crash.
 */
export function startSweeper(
  deps: { pool: Pool; log: Logger },
  options: { pollMs: number; leaseMs: number },
): { stop(): Promise<void> } {
  const wake = createWakeUp();
  let stopping = false;
  let patientUntilMs = 0;

  const sweeping = (async () => {
    while (!stopping) {
      try {
        if (performance.now() < patientUntilMs) await deps.pool.query("select 1");
        else await sweep(deps);
      } catch (error) {
        deps.log.warn({ err: error }, "could not sweep expired leases, retrying");
        patientUntilMs = performance.now() + options.leaseMs / 2;
      }
      if (!stopping) await wake.wait(options.pollMs);
    }
  })();

  return {
    async stop() {
      stopping = true;
      wake.ring();
      await sweeping;
    },
  };
}

async function sweep(deps: { pool: Pool; log: Logger }): Promise<void> {
  for (const job of await sweepLeases(deps.pool)) {
    deps.log.warn({ jobId: job.id, crashes: job.crashes }, "a lease expired, its job is due again");
  }
}
