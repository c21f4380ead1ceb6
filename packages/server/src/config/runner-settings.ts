import type { RunnerSettings } from "../agent/runners/runner.ts";
import { runnerPrograms } from "./model-settings.ts";
import type { SettingReader } from "./setting-reader.ts";

/** The part of the configuration that is about runners. */
export function readRunnerSettings({ text, flag, integer, problems }: SettingReader, path: string): RunnerSettings {
  const named = text("EMEND_RUNNERS") ?? runnerPrograms.join(",");
  const allowed = named === "none" ? [] : named.split(",").map((name) => name.trim());
  for (const name of allowed.filter((name) => !runnerPrograms.includes(name))) {
    problems.push(`EMEND_RUNNERS must be none, or names of ${runnerPrograms.join(", ")} with commas, not "${name}"`);
  }
  return {
    allowed,
    path,
    isUnsandboxed: flag("EMEND_RUNNER_UNSANDBOXED"),
    memoryBytesMax: (integer("EMEND_RUNNER_MEMORY_MB", { least: 64, most: 1_048_576 }) ?? 4_096) * 2 ** 20,
  };
}
