import { createWakeUp } from "@emend/base/locks.ts";
import type { Logger } from "@emend/base/logger.ts";
import type { Channel, Listener } from "./listener.ts";

/**
 * A queue table: rows become due, and a claim hides one from other nodes until its lease expires (visibility timeout).
 */
interface WorkQueue<Item> {
  /** For the log. */
  name: string;
  /** Notifies that something may be due: only a hint, the table is the source of truth. */
  channel: Channel;
  pollEveryMs: number;
  atOnceMax: number;
  /** Claims the row that has been due longest. Undefined: nothing is due, or not while these are running. */
  claim(underWay: readonly Item[]): Promise<Item | undefined>;
  /** Does the work, and stores the outcome if it still holds the lease. */
  work(item: Item, stopping: AbortSignal): Promise<void>;
}

export interface RunningQueue {
  /** Stops claiming and waits for running work. */
  stop(): Promise<void>;
}

/** Processes due rows, on every node that runs it. */
export function startQueue<Item extends { id: string }>(
  deps: { listener: Pick<Listener, "on" | "onReset">; log: Logger },
  queue: WorkQueue<Item>,
): RunningQueue {
  const wake = createWakeUp();
  const stopping = new AbortController();
  const underWay = new Map<Item, Promise<void>>();
  const unlisten = [deps.listener.on(queue.channel, () => wake.ring()), deps.listener.onReset(() => wake.ring())];
  const claiming = claimWhileWanted();

  async function claimWhileWanted(): Promise<void> {
    while (!stopping.signal.aborted) {
      const item = await claim().catch((err) => {
        if (!stopping.signal.aborted) deps.log.warn({ err, queue: queue.name }, "could not claim work, retrying");
      });
      if (item) start(item);
      else if (!stopping.signal.aborted) await wake.wait(queue.pollEveryMs);
    }
  }

  async function claim(): Promise<Item | undefined> {
    return underWay.size < queue.atOnceMax ? queue.claim([...underWay.keys()]) : undefined;
  }

  function start(item: Item): void {
    const done = queue
      .work(item, stopping.signal)
      .catch((err) => deps.log.warn({ err, queue: queue.name, id: item.id }, "could not store a result of work"))
      .finally(() => {
        underWay.delete(item);
        wake.ring();
      });
    underWay.set(item, done);
  }

  return {
    async stop() {
      stopping.abort();
      for (const stop of unlisten) stop();
      wake.ring();
      await claiming;
      await Promise.all(underWay.values());
    },
  };
}
