import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "@emend/base/logger.ts";
import { isAppError } from "../errors.ts";
import { requestId } from "../lib/id.ts";

const retryMsMax = 5_000;

interface WaitOptions {
  log: Logger;
  signal: AbortSignal;
  /** Where the API will listen. Null: this process answers no requests. */
  listen: { host: string; port: number } | null;
}

/**
 * Waits for a database that is away at startup, as the running server does later. Meanwhile every request gets 503, so
 * that a load balancer and a supervisor see a process that lives and is not ready.
 */
export async function awaitDatabase<T>(options: WaitOptions, open: () => Promise<T>): Promise<T> {
  const { log, signal, listen } = options;
  let waiting: { close(): Promise<void> } | null = null;
  try {
    for (let retryMs = 500; ; retryMs = Math.min(retryMs * 2, retryMsMax)) {
      try {
        return await open();
      } catch (error) {
        if (!(isAppError(error, "unavailable") && error.retryable)) throw error;
        log.warn({ err: error, retryMs }, "the database is not available, waiting");
        if (listen) waiting ??= await answerUnready(listen);
        await pause(retryMs, undefined, { signal });
      }
    }
  } finally {
    await waiting?.close();
  }
}

async function answerUnready({ host, port }: { host: string; port: number }): Promise<{ close(): Promise<void> }> {
  const body = JSON.stringify({ error: "The database is not available." });
  const server = createServer((request, response) => {
    const isAlive = request.url === "/healthz";
    response.writeHead(isAlive ? 200 : 503, {
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      connection: "close",
      "x-request-id": requestId(request),
      ...(!isAlive && { "retry-after": "5", "emend-error": "unavailable" }),
    });
    response.end(isAlive ? '{"status":"ok"}' : body);
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  return {
    async close() {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}
