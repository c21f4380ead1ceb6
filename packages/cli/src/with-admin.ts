import { resolve } from "node:path";
import type { Admin, Config } from "@emend/server";
import { type Cli, CliError } from "./cli.ts";

type Work<T> = (admin: Admin) => Promise<T>;

/**
 * Opens the installation of `--data` or the environment, even while its server runs, and closes it again. A missing one
 * is an error and is not created: a mistyped folder would look like an installation that lost everything.
 */
export async function withAdmin<T>(
  cli: Cli,
  options: { data?: string },
  work: Work<T>,
  opening: { checksSecret?: boolean } = {},
): Promise<T> {
  const { isMade } = await import("@emend/server");
  const config = await configOf(cli, options);
  if (isMade(config)) return openFor(config, work, opening);
  throw new CliError("refused", `there is no installation in ${config.dataDir} yet; \`emend serve\` makes it`);
}

/** For commands that may create an installation. `before` can refuse before that. */
export async function withNewAdmin<T>(
  cli: Cli,
  options: { data?: string },
  work: Work<T>,
  before: (config: Config) => Promise<void> = async () => {},
): Promise<T> {
  const config = await configOf(cli, options);
  await before(config);
  return openFor(config, work);
}

async function configOf(cli: Cli, options: { data?: string }): Promise<Config> {
  // Imported here, so that commands that do not need the server start fast.
  const { loadConfig } = await import("@emend/server");
  // Log lines would go to standard output, which is for the result.
  const env = { ...cli.env, EMEND_LOG_LEVEL: "silent" };
  return loadConfig(env, options.data === undefined ? {} : { dataDir: resolve(options.data) });
}

async function openFor<T>(config: Config, work: Work<T>, opening: { checksSecret?: boolean } = {}): Promise<T> {
  const { openAdmin } = await import("@emend/server");
  const admin = await openAdmin(config, opening);
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}
