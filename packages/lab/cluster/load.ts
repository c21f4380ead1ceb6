import { setTimeout as pause } from "node:timers/promises";
import { openEventSource } from "@emend/testkit/event-source.ts";
import type { History } from "../chaos/judge.ts";
import { postJob, type Target } from "../chaos/post-job.ts";

export interface Load {
  /** When creates were accepted, by `performance.now()`, in order. */
  acceptedAt(): readonly number[];
  /** While set, a client creates jobs as fast as it can, to see when the first one is accepted. */
  hurry(isHurried: boolean): void;
  /** Ends with the jobs that its clients follow. */
  stop(): Promise<void>;
}

const prompt = "Say access key.";
const followersAtOnce = 3;
const retry = { pauseMs: 200 };

/** Clients as people write them: they retry with one idempotency key, and follow events by `Last-Event-ID`. */
export function startLoad(targets: { open(): Target; limited(): Target }, history: History): Load {
  const { open, limited } = targets;
  const acceptedAt: number[] = [];
  let isOver = false;
  let isHurried = false;
  let posted = 0;

  async function create(target: () => Target, more: Parameters<typeof postJob>[4] = {}): Promise<string | null> {
    posted += 1;
    const jobId = await postJob(target, prompt, `post ${posted}`, history, { ...retry, ...more });
    if (jobId !== null) acceptedAt.push(performance.now());
    return jobId;
  }

  async function createOften(): Promise<void> {
    while (!isOver) {
      await create(open);
      for (let waitedMs = 0; waitedMs < 2_000 && !isHurried && !isOver; waitedMs += 100) await pause(100);
      await pause(100);
    }
  }

  async function follow(): Promise<void> {
    while (!isOver) {
      const jobId = await create(open);
      if (jobId !== null) await followJob(open, jobId, history);
      await pause(1_000);
    }
  }

  async function useUpQuota(): Promise<void> {
    // A short run has not met the limit when it is over.
    for (let isRefused = false; !isOver || !isRefused; ) {
      isRefused = (await create(limited, { quota: true })) === null;
      if (!isOver) await pause(2_000);
    }
  }

  const clients = [createOften(), useUpQuota(), ...Array.from({ length: followersAtOnce }, follow)];
  return {
    acceptedAt: () => acceptedAt,
    hurry(wanted) {
      isHurried = wanted;
    },
    async stop() {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

const finalKinds = ["completed", "failed", "archived"];

/** Reads a job's events until its end, on the next node after each break. Every event must come once, in order. */
async function followJob(target: () => Target, jobId: string, history: History): Promise<void> {
  let last = 0;
  for (let n = 0; ; n += 1) {
    const { ports, projectId, key } = target();
    const url = `http://127.0.0.1:${ports[n % ports.length]}/v2/agent/${projectId}/job/${jobId}/events`;
    try {
      const source = await openEventSource(url, { authorization: `Bearer ${key}`, "last-event-id": String(last) });
      for (let event = await source.next(); event !== undefined && source.status === 200; event = await source.next()) {
        if (event === null) continue;
        const { seq, kind } = event.data;
        if (seq !== last + 1) history.add({ kind: "unexpected", what: `event ${seq} of ${jobId} came after ${last}` });
        last = seq;
        if (finalKinds.includes(kind)) return source.close();
      }
      source.close();
    } catch {
      // The node was killed, or does not run yet.
    }
    await pause(retry.pauseMs);
  }
}
