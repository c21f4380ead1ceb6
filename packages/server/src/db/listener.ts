import type { Logger } from "../lib/logger.ts";
import type { Channel } from "./channels.ts";

/** One LISTEN connection a process, which knows how fresh it is. */
export interface Listener {
  on(channel: Channel, handler: (payload: string) => void): () => void;
  /** Called after a reconnect: notices may have been missed, so forget what was remembered. */
  onReset(handler: () => void): () => void;
  /** True while a round trip begun within the last 900 ms has completed: what was remembered still holds. */
  isFresh(): boolean;
  close(): Promise<void>;
}

export interface ListenerOptions {
  url: string;
  log: Logger;
}
