import type { Readable, Writable } from "node:stream";

/**
 * A runner is an agent program of the operator's that does a job in place of the loop: it gets a checkout, a prompt and a
 * token, in a sandbox that reaches our gateway to the model and nothing else. The model's key stays outside. What it
 * leaves in the checkout becomes the change and passes the same review.
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

/** A program that was found, with all that it needs to run. */
export interface Runner {
  /** As the job names it: `runner/…`. */
  readonly name: string;
  readonly program: string;
  /** Of its model. It must be in nothing that the program leaves. */
  readonly apiKey: string;
  run(task: RunnerTask, signal: AbortSignal): Promise<RunnerEnd>;
}

export interface RunnerTask {
  /** The checkout, which it changes. Nothing of the program runs any more once `run` has returned. */
  folder: string;
  /** Said on standard input. */
  instructions: string;
  /** Ends it. */
  clock: AbortSignal;
}

export type RunnerEnd =
  | { kind: "answered"; answer: RunnerAnswer }
  /** In the program's own words, without the key. */
  | { kind: "failed"; words: string }
  | { kind: "timed out" }
  | { kind: "too large"; words: string };

/** What the server gives to every runner. */
export interface RunnerDeps {
  settings: RunnerSettings;
  /** By which the gateway asks the model: it heeds the operator's proxy and authorities. */
  fetch: typeof globalThis.fetch;
  start: StartProcess;
  /** A vendor's key, and its address with the version; null: not set, or the vendor's own. */
  endpointOf(vendor: string): Promise<{ apiKey: string | null; baseUrl: string | null }>;
}

/** Starts a program in a process group of its own, which dies with this process however that ends. */
export type StartProcess = (options: {
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** No file that it writes may grow past this. */
  fileBytesMax?: number;
  /** Kept open in the child, as 4 and 5. */
  descriptors?: readonly number[];
}) => StartedProcess;

export interface StartedProcess {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once it has exited and its output was read. */
  readonly ended: Promise<{ code: number | null }>;
  /** Ends the whole group. */
  stop(): void;
}
