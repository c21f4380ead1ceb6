export { isRunner, openRunner } from "./open-runner.ts";
export type { Runner, RunnerAnswer, RunnerSettings } from "./runner.ts";
export { trySandbox } from "./sandbox.ts";
