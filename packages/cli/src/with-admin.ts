import { resolve } from "node:path";
import type { Admin } from "@emend/server";
import type { Cli } from "./cli.ts";

/** Opens the installation that `--data` or the environment names, also while its server runs, and closes it again. */
export async function withAdmin<T>(
  cli: Cli,
  options: { data?: string },
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  // Loaded here so that commands which never need the server start at once.
  const { loadConfig, openAdmin } = await import("@emend/server");
  const overrides = options.data === undefined ? {} : { dataDir: resolve(options.data) };
  // Log lines go to standard output, which belongs to the result.
  const env = { ...cli.env, EMEND_LOG_LEVEL: "silent" };
  const admin = await openAdmin(loadConfig(env, overrides));
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}
