import type { Server } from "./compose.ts";
import type { Config } from "./config.ts";
import type { ModelTrial } from "./try-model.ts";

export { type Admin, openAdmin } from "./admin.ts";
export type { Automation, AutomationRun, Trigger as AutomationTrigger } from "./automations/automation.ts";
export { type Config, ConfigError, loadConfig } from "./config.ts";
export { AppError } from "./errors.ts";
export type { JobEvent } from "./jobs/list-events.ts";
export type { JobReport } from "./jobs/read-report.ts";
export { tryFileLock } from "./lib/try-file-lock.ts";
export type { Delivery } from "./notify/list-deliveries.ts";
export type { Webhook } from "./notify/webhook.ts";
export { isMade } from "./open-database.ts";
export type { ModelTrial, Server };

/** Loaded when it is called: a command that only administers starts in half the time without it. */
export async function startServer(config: Config): Promise<Server> {
  const compose = await import("./compose.ts");
  return compose.startServer(config);
}

/** Asks the configured model one short question. */
export async function tryModel(config: Config, name?: string): Promise<ModelTrial> {
  const trial = await import("./try-model.ts");
  return trial.tryModel(config, name);
}
