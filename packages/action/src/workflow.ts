import { hash, randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

/** The runner's interface: commands on standard output, files for outputs and the summary. */
export interface Workflow {
  mask(secret: string): void;
  error(message: string): void;
  setOutput(name: string, value: string): void;
  addSummary(markdown: string): void;
}

export function createWorkflow(env: NodeJS.ProcessEnv, print: (line: string) => void): Workflow {
  return {
    mask: (secret) => print(`::add-mask::${escapeData(secret)}`),
    error: (message) => print(`::error title=Emend::${escapeData(message)}`),
    setOutput(name, value) {
      // A random delimiter keeps a value from forging another output.
      const delimiter = `emend-${randomUUID()}`;
      if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
    },
    addSummary(markdown) {
      if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, `${markdown}\n`);
    },
  };
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

export interface Inputs {
  mode: "job";
  url: string;
  apiKey: string;
  project: string;
  prompt: string;
  baseRef: string | null;
  model: string | null;
  draft: boolean;
  wait: boolean;
  timeoutMinutes: number;
  idempotencyKey: string;
}

export interface CheckInputs {
  mode: "check";
  path: string;
  docs: string | null;
  onlyNew: boolean;
  baseRef: string | null;
  /** Folders of code to compare the docs with, from the top of the checkout. */
  sources: readonly string[];
}

/** The workflow's inputs, which the runner passes as `INPUT_<NAME>`. All problems are reported at once. */
export function readInputs(env: NodeJS.ProcessEnv): Inputs | CheckInputs {
  const problems: string[] = [];
  const optional = (name: string) => env[`INPUT_${name.toUpperCase()}`]?.trim() || null;
  function required(name: string): string {
    const value = optional(name);
    if (value === null) problems.push(`the input "${name}" is missing`);
    return value ?? "";
  }
  function flag(name: string, fallback: boolean): boolean {
    const value = optional(name) ?? String(fallback);
    if (value !== "true" && value !== "false") problems.push(`the input "${name}" must be true or false`);
    return value === "true";
  }
  const mode = optional("mode") ?? "job";
  if (mode !== "job" && mode !== "check") throw new Error('the input "mode" must be job or check');
  if (mode === "check") {
    const inputs: CheckInputs = {
      mode,
      path: optional("path") ?? ".",
      docs: optional("docs"),
      onlyNew: flag("only-new", false),
      baseRef: optional("base-ref"),
      sources: (optional("source") ?? "").split(/\s+/).filter((name) => name !== ""),
    };
    if (problems.length > 0) throw new Error(problems.join("; "));
    return inputs;
  }
  const timeoutMinutes = Number(optional("timeout-minutes") ?? 30);
  if (!(timeoutMinutes > 0 && timeoutMinutes <= 360)) {
    problems.push('the input "timeout-minutes" must be a number up to 360');
  }
  const inputs: Inputs = {
    mode,
    url: required("url"),
    apiKey: required("api-key"),
    project: required("project"),
    prompt: required("prompt"),
    baseRef: optional("base-ref"),
    model: optional("model"),
    draft: flag("draft", false),
    wait: flag("wait", true),
    timeoutMinutes,
    idempotencyKey: optional("idempotency-key") ?? "",
  };
  if (inputs.idempotencyKey === "") inputs.idempotencyKey = keyOf(env, inputs);
  if (problems.length > 0) throw new Error(problems.join("; "));
  return inputs;
}

/**
 * If the runner repeats a step after a lost connection, one job is created. A re-run by a person creates another. Legs of a
 * matrix share the job's name: the orchestration's id tells them apart where the runner has it, otherwise the runner's
 * name, and always what they ask for.
 */
function keyOf(env: NodeJS.ProcessEnv, inputs: Inputs): string {
  const { project, prompt, baseRef, model, draft } = inputs;
  const asked = hash("sha256", JSON.stringify([project, prompt, baseRef, model, draft])).slice(0, 16);
  const run = [env.GITHUB_REPOSITORY, env.GITHUB_RUN_ID, env.GITHUB_RUN_ATTEMPT, env.GITHUB_JOB, env.GITHUB_ACTION];
  const leg = hash("sha256", env.ACTIONS_ORCHESTRATION_ID ?? env.RUNNER_NAME ?? "").slice(0, 8);
  return [...run, leg, asked].join("/").slice(-255);
}
