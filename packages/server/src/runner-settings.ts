import type { RunnerSettings } from "./agent/runners/runner.ts";
import type { Config } from "./config.ts";

/** What the operator set for runners, with the network's part of it. */
export function runnersOf(config: Config): RunnerSettings {
  const { caFile, httpsProxy } = config.network;
  return { ...config.runners, caFile: caFile ?? null, httpsProxy: httpsProxy ?? null };
}
