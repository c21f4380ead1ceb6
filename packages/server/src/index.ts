export { type Admin, openAdmin } from "./admin.ts";
export { type Server, startServer } from "./compose.ts";
export { type Config, ConfigError, loadConfig } from "./config.ts";
export { AppError } from "./errors.ts";
export type { JobEvent } from "./jobs/list-events.ts";
export type { JobReport } from "./jobs/read-report.ts";
