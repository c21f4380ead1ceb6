import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import type { Queryable } from "../../server/src/db/pool.ts";
import type { WorkerOptions } from "../../server/src/run/worker.ts";
import { programOf } from "./test-programs.ts";
import type { WorkerOrder } from "./worker-process.ts";

export interface WorkerProcess {
  child: ChildProcess;
  /** Resolves with an exit code or a signal's name. */
  ended: Promise<number | string>;
  /** Resolves once it has logged this message. */
  logged(message: string): Promise<void>;
  kill(): Promise<void>;
}

/** For tests that must outlive a lease. Long enough to renew the lease on a busy machine. */
export const shortTimes = { leaseMs: 3_000, renewEveryMs: 250, pollMs: 50, retryMs: 50 };

/** Makes every lease expire at once. */
export async function expireLeases(db: Queryable): Promise<void> {
  await db.query("update jobs set lease_until = clock_timestamp() - interval '1 second' where lease is not null");
}

export async function spawnWorker(
  order: Omit<WorkerOrder, "options"> & { options?: Partial<WorkerOptions> },
): Promise<WorkerProcess> {
  const options = { concurrency: 4, pollMs: 50, ...order.options };
  const path = programOf(new URL("./worker-process.ts", import.meta.url));
  const child = spawn(process.execPath, [path, JSON.stringify({ ...order, options })], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const messages: string[] = [];
  const heard = new Set<() => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    messages.push(JSON.parse(line).msg);
    for (const listener of heard) listener();
  });
  const ended = once(child, "exit").then(([code, signal]) => signal ?? code);
  const logged = async (message: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => messages.includes(message) && resolve();
    heard.add(look);
    look();
    await promise;
    heard.delete(look);
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  await Promise.race([logged("worker ready"), ended]);
  return { child, ended, logged, kill };
}

/** Polls until the job matches. The test's own timeout is the limit. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whichever column it is about
export async function waitForJob(db: Queryable, id: string, wanted: (job: any) => boolean): Promise<any> {
  for (;;) {
    const { rows } = await db.query("select * from jobs where id = $1", [id]);
    if (wanted(rows[0])) return rows[0];
    await pause(20);
  }
}

export const isFinal = (job: { status: string }) => job.status !== "active";
