import type { Logger } from "../../../lib/logger.ts";
import type { AccessDeps } from "../caller.ts";
import type { LocalForgeDeps } from "../local-forge.ts";

export interface PluginDeps extends LocalForgeDeps, AccessDeps {
  /** Aborted when the server stops. */
  signal: AbortSignal;
  log: Logger;
  /** Where the dashboard shows what these pages show, for browsers; null where it is not built. */
  dashboardUrl?(): string | null;
}
