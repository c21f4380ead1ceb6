export { canEvaluate, type Evaluation, evaluateConfig } from "./evaluate/evaluate-config.ts";
export { isRunner, openRunner } from "./open-runner.ts";
export { runProgram, watchMemory } from "./run-program.ts";
export type { Runner, RunnerAnswer, RunnerSettings, StartProcess } from "./runner.ts";
export { bind, bridged, confined, findProgram, inside, programMounts, type Sandbox, trySandbox } from "./sandbox.ts";
