import { once } from "node:events";
import { PassThrough } from "node:stream";
import { type Logger, pino } from "pino";

/** A logger, and how to wait for the next time that it says something. */
export function listeningLog(): { log: Logger; said(message: string): Promise<void> } {
  // Flowing from the start: what was said before somebody waits does not count.
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
