export { canEvaluate, type Evaluation, evaluateConfig } from "./evaluate/evaluate-config.ts";
export { isRunner, openRunner } from "./open-runner.ts";
export type { Runner, RunnerAnswer, RunnerSettings } from "./runner.ts";
export { trySandbox } from "./sandbox.ts";
