import type { RunnerVendor } from "./vendors.ts";

/**
 * A runner is an agent program of the operator's that does a job in place of the loop: it gets a checkout, a prompt and a
 * token, in a sandbox that reaches our gateway to the model and nothing else. The model's key stays outside. What it
 * leaves in the checkout becomes the overlay and passes the same review.
 */
export interface RunnerProgram {
  /** The part of the model's name after `runner/`. */
  name: string;
  /** Looked for on the server's PATH. */
  command: string;
  /** Whose credential and address it uses, as the language models do; `model`: what the job's name says of it. */
  vendorOf(model: string | null): string;
  /** The one model that it asks, as its vendor is told; null, or none: it asks others too, or by a name of its own. */
  asksFor?(model: string | null): string | null;
  /** The variables that say where the model is and what to show there. */
  environment(input: RunnerAccess): Readonly<Record<string, string>>;
  /** Files that it finds in its home. */
  homeFiles?(input: RunnerAccess): Readonly<Record<string, string>>;
  /** Its command line for one task without a person. The prompt comes on standard input. */
  arguments(input: RunnerAccess & { isSandboxed: boolean }): readonly string[];
  /** What it said in the end, from its standard output; throws where that is no answer of the program's. */
  readAnswer(stdout: string): RunnerAnswer;
}

/** What a program is told of its model. */
export interface RunnerAccess {
  /** In place of a key; good for this run, at the gateway alone. */
  token: string;
  /** The gateway, without a version and without a slash at its end. */
  gatewayUrl: string;
  model: string | null;
}

/** What the gateway knows of the model. */
export interface RunnerModel {
  vendor: RunnerVendor;
  apiKey: string;
  /** With the version. */
  baseUrl: string;
}

export interface RunnerAnswer {
  text: string;
  inputTokens?: number;
  cachedInputTokens?: number;
  outputTokens?: number;
  costUsd?: number;
}

/** What the operator set. */
export interface RunnerSettings {
  /** The programs that jobs may run, by name: whoever edits a project may choose among these. */
  allowed: readonly string[];
  /** Where programs are looked for. */
  path: string;
  /** Run them without a sandbox. */
  isUnsandboxed: boolean;
  /** Of all processes of one run together. */
  memoryBytesMax: number;
}
