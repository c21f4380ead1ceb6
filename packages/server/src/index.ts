import type { Server, StartOptions } from "./compose/compose.ts";
import type { Config } from "./config/config.ts";
import { knownSecret } from "./installation/open-database.ts";

export { tryFileLock } from "@emend/base/locks.ts";
export type { Admin } from "./admin/admin.ts";
export { openAdmin } from "./admin/open-admin.ts";
export { tryDatabases, tryFolderOf } from "./admin/try-places.ts";
export { type ServiceTrials, tryServices } from "./admin/try-services.ts";
export type { Automation, AutomationRun, Trigger as AutomationTrigger } from "./automations/automation.ts";
export { type Config, ConfigError, loadConfig, readConfig } from "./config/config.ts";
export { isDashboardBuilt } from "./dashboard/assets.ts";
export { AppError } from "./errors.ts";
export type { GateStatus } from "./gate/gate-store.ts";
export { isMade } from "./installation/open-database.ts";
export type { JobReport } from "./jobs/read/run-report.ts";
export type { Delivery } from "./notify/deliveries.ts";
export type { Webhook } from "./notify/webhooks.ts";
export type { Server };

/** Imported when called: an administrative command starts in half the time without it. */
export async function startServer(config: Config, options?: StartOptions): Promise<Server> {
  const compose = await import("./compose/compose.ts");
  return compose.startServer(config, options);
}

/** Refuses an invalid archive before anything is created. */
export async function assertArchive(config: Config, folder: string): Promise<void> {
  const { readSealed } = await import("./backup/manifest.ts");
  await readSealed(folder, await knownSecret(config));
}
