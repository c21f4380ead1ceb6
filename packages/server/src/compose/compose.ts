import { createLogger } from "@emend/base/logger.ts";
import type { Admin } from "../admin/admin.ts";
import type { Config } from "../config/config.ts";
import { version } from "../lib/version.ts";
import { startMetricsServer } from "../metrics/metrics.ts";
import { composeApi, describeListenError } from "./api.ts";
import { composeParts, type Undo } from "./parts.ts";
import { composeWork } from "./work.ts";

export interface Server {
  /** The URL for clients. */
  url: string;
  /** The embedded database's folder, if it is not in the data folder. */
  databaseDir: string | null;
  admin: Admin;
  /** Stops taking work, lets running work reach a safe point, and ends. Safe to call again. */
  stop(): Promise<void>;
  /** Settles when it has stopped, whoever requested it. */
  finished: Promise<void>;
}

export interface StartOptions {
  /** Receives the log's lines, each a JSON object, instead of standard output. */
  logTo?: { write(line: string): void };
  /** Aborts the start, which may wait for the database. */
  signal?: AbortSignal;
}

/**
 * Builds every part once, in the order of their dependencies, and stops them in reverse. `parts.ts` has what every role
 * needs, `api.ts` what answers requests, and `work.ts` what runs jobs and maintenance.
 */
export async function startServer(config: Config, { logTo, signal }: StartOptions = {}): Promise<Server> {
  const log = createLogger({ level: config.logLevel, ...(logTo && { stream: logTo }) });
  for (const { variable, nearest } of config.unknownSettings) {
    log.warn({ variable, ...(nearest && { meant: nearest }) }, "a variable is set that nothing reads");
  }
  const undo: Undo = [];
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const stop = once(async () => {
    log.info("emend stops");
    for (const step of undo.reverse()) await step().catch((err) => log.error({ err }, "a part did not stop cleanly"));
    log.info("emend stopped");
    finish();
  });

  try {
    const parts = await composeParts(config, log, undo, signal ?? new AbortController().signal);
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
    if (databaseDir)
      log.info({ databaseDir, dataDir: config.dataDir }, "the database is stored outside the data folder");
    const listens = config.role === "worker" ? null : parts.bound.url;
    log.info({ version, role: config.role, listens, publicUrl: parts.publicUrl() }, "emend started");
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
