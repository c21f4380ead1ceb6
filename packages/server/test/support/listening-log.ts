import { once } from "node:events";
import { PassThrough } from "node:stream";
import { type Logger, pino } from "pino";

/** A logger, and a way to wait for its next message. */
export function listeningLog(): { log: Logger; said(message: string): Promise<void> } {
  // Flowing from the start: messages before the wait do not count.
  const stream = new PassThrough({ encoding: "utf8" }).resume();
  return {
    log: pino(stream),
    async said(message) {
      for (;;) {
        const [line] = await once(stream, "data");
        if (String(line).includes(message)) return;
      }
    },
  };
}
