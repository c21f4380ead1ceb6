import type { RunnerSettings } from "./agent/runners/runner.ts";
import type { Config } from "./config.ts";

/** What the operator set for runners. */
export function runnersOf(config: Config): RunnerSettings {
  return config.runners;
}
