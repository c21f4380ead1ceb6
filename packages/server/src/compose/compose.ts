import type { Admin } from "../admin/admin.ts";
import type { Config } from "../config/config.ts";
import { createLogger } from "../lib/logger.ts";
import { startMetricsServer } from "../metrics/metrics-server.ts";
import { composeApi } from "./api.ts";
import { describeListenError } from "./describe-listen-error.ts";
import { composeParts, type Undo } from "./parts.ts";
import { composeWork } from "./work.ts";

export interface Server {
  /** Where clients reach it. */
  url: string;
  /** Where the embedded database lies, if not below the data folder. */
  databaseDir: string | null;
  admin: Admin;
  /** Takes no new work, lets what is under way come to a good place, and ends; safe to call again. */
  stop(): Promise<void>;
  /** Settles once it has stopped, whoever asked for it. */
  finished: Promise<void>;
}

export interface StartOptions {
  /** Takes the log's lines, each a JSON object, in place of standard output. */
  logTo?: { write(line: string): void };
}

/** Builds every part once, in the order in which they need each other, and takes them down in reverse. */
export async function startServer(config: Config, { logTo }: StartOptions = {}): Promise<Server> {
  const log = createLogger({ level: config.logLevel, ...(logTo && { stream: logTo }) });
  for (const { variable, nearest } of config.unknownSettings) {
    log.warn({ variable, ...(nearest && { meant: nearest }) }, "a variable is set that nothing reads");
  }
  const booting = new AbortController();
  const undo: Undo = [];
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const stop = once(async () => {
    for (const step of undo.reverse()) await step().catch((err) => log.error({ err }, "a part did not stop cleanly"));
    finish();
  });

  try {
    const parts = await composeParts(config, log, undo, booting.signal);
    if (config.role !== "worker") await composeApi(parts, undo);
    if (config.role !== "api") await composeWork(parts, undo);
    if (config.metricsPort !== null) {
      const server = await startMetricsServer(
        { metrics: parts.metrics, token: config.metricsToken },
        { host: config.host, port: config.metricsPort },
      ).catch((error) => {
        throw describeListenError(error, {
          host: config.host,
          port: config.metricsPort,
          variable: "EMEND_METRICS_PORT",
        });
      });
      undo.push(() => server.close());
    }
    const databaseDir = parts.database.outsideDir;
    if (databaseDir) log.info({ databaseDir, dataDir: config.dataDir }, "the database lies outside the data folder");
    return { url: parts.publicUrl(), databaseDir, admin: parts.admin, stop, finished };
  } catch (error) {
    await stop();
    throw error;
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work();
    return running;
  };
}
