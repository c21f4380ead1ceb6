import { once } from "node:events";
import { PassThrough } from "node:stream";
import { createLogger } from "@emend/base/logger.ts";
import { type Logger, pino } from "pino";
import { createPool } from "../../server/src/db/pool.ts";

/** The same server with another database. Not with `URL`, which refuses a socket folder as host. */
export function withDatabaseName(url: string, name: string): string {
  return url.replace(/^(\w+:\/\/[^/?]*)(\/[^?]*)?/, `$1/${name}`);
}

export async function runOnServer(url: string, statement: string): Promise<void> {
  const pool = createPool({ url, connectionsMax: 1, log: createLogger({ level: "warn" }) });
  await pool.query(statement).finally(() => pool.end());
}

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

/**
 * The minimal environment for a Node process that a test starts: PATH, and the compile cache, because a short process
 * spends most of its time on compiling.
 */
export const nodeEnvironment: { PATH: string; NODE_COMPILE_CACHE?: string } = {
  PATH: process.env.PATH ?? "",
  ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
};
