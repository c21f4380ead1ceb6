import { createLogger } from "@emend/base/logger.ts";
import type { Config } from "../config/config.ts";
import { ensureSecret, openDatabase } from "../installation/open-database.ts";
import { recallUrl } from "../installation/public-url.ts";
import { assertSecret } from "../installation/sealed-values.ts";
import { type Admin, createAdmin } from "./admin.ts";

const connectionsMax = 4;

interface OpenOptions {
  /** False for commands that only read: no migrations run. */
  migrates?: boolean;
  /** False for commands that check or change the secret. Otherwise a wrong one is refused. */
  checksSecret?: boolean;
}

/** For commands that run with or without a running server. */
export async function openAdmin(config: Config, options: OpenOptions = {}): Promise<Admin> {
  const { migrates = true, checksSecret = true } = options;
  const log = createLogger({ level: config.logLevel === "info" ? "warn" : config.logLevel });
  const signal = new AbortController().signal;
  const database = await openDatabase({ config, log, connectionsMax, holder: "command", signal, migrates });
  try {
    const secret = await ensureSecret(config);
    if (checksSecret) await assertSecret(database.pool, secret, config);
    return createAdmin({
      config,
      pool: database.pool,
      secret,
      publicUrl: () => recallUrl(config),
      close: () => database.close(),
    });
  } catch (error) {
    await database.close();
    throw error;
  }
}
