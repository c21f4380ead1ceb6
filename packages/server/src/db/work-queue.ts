import type { Logger } from "../lib/logger.ts";
import { createWakeUp } from "../lib/wake-up.ts";
import type { Channel } from "./channels.ts";
import type { Listener } from "./listener.ts";

/** A table of work: rows fall due, and a claim makes one invisible to other nodes until its lease expires. */
interface WorkQueue<Item> {
  /** In the log. */
  name: string;
  /** Rings where something may be due: a hint, the table is the truth. */
  channel: Channel;
  lookEveryMs: number;
  atOnceMax: number;
  /** Takes what has been due longest; undefined: nothing is, or not while these are under way. */
  claim(underWay: readonly Item[]): Promise<Item | undefined>;
  /** Does it, and stores how it went where it still holds the lease. */
  work(item: Item, stopping: AbortSignal): Promise<void>;
}

export interface Working {
  /** Claims no more and waits for what is under way. */
  stop(): Promise<void>;
}

/** Works off what is due, on every node that runs it. */
export function startQueue<Item extends { id: string }>(
  deps: { listener: Pick<Listener, "on" | "onReset">; log: Logger },
  queue: WorkQueue<Item>,
): Working {
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
      else if (!stopping.signal.aborted) await wake.wait(queue.lookEveryMs);
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
