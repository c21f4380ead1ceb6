import type { Readable, Writable } from "node:stream";

/**
 * A runner is an agent program of the operator that does a job instead of the loop. It gets a checkout, a prompt and a
 * token, in a sandbox that reaches only our gateway to the model. The model's key stays outside. Its changes to the
 * checkout pass the same review.
 */
export interface RunnerProgram {
  /** The part of the model's name after `runner/`. */
  name: string;
  /** Found on the server's PATH. */
  command: string;
  /** The vendor whose credential and URL it uses. `model`: the model in the job's name. */
  vendorOf(model: string | null): string;
  /** The only model that it requests, by its vendor's name. Null: it requests others too, or under another name. */
  asksFor?(model: string | null): string | null;
  /** The variables for the model's URL and token. */
  environment(input: RunnerAccess): Readonly<Record<string, string>>;
  /** Files for its home folder. */
  homeFiles?(input: RunnerAccess): Readonly<Record<string, string>>;
  /** Its command line for one non-interactive task. The prompt comes on standard input. */
  arguments(input: RunnerAccess & { isSandboxed: boolean }): readonly string[];
  /** Its final message, from standard output. Throws if the output is invalid. */
  readAnswer(stdout: string): RunnerAnswer;
}

/** The program's access to its model. */
export interface RunnerAccess {
  /** Used instead of a key; valid for this run, at the gateway only. */
  token: string;
  /** The gateway's URL, without a version and a trailing slash. */
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

/** The operator's settings. */
export interface RunnerSettings {
  /** The programs that jobs may run. Editors of a project choose among these. */
  allowed: readonly string[];
  /** The search path for programs. */
  path: string;
  /** Run them without a sandbox. */
  isUnsandboxed: boolean;
  /** For all processes of one run together. */
  memoryBytesMax: number;
}

/** A program that was found, ready to run. */
export interface Runner {
  /** As the job names it: `runner/…`. */
  readonly name: string;
  readonly program: string;
  /** The model's key. The program's output must not contain it. */
  readonly apiKey: string;
  run(task: RunnerTask, signal: AbortSignal): Promise<RunnerEnd>;
}

export interface RunnerTask {
  /** The checkout, which it changes. The program has ended once `run` returns. */
  folder: string;
  /** Sent on standard input. */
  instructions: string;
  /** Aborts it. */
  clock: AbortSignal;
}

export type RunnerEnd =
  | { kind: "answered"; answer: RunnerAnswer }
  /** In the program's words, without the key. */
  | { kind: "failed"; words: string }
  | { kind: "timed out" }
  | { kind: "too large"; words: string };

/** What the server provides to runners. */
export interface RunnerDeps {
  settings: RunnerSettings;
  /** For the gateway: uses the operator's proxy and authorities. */
  fetch: typeof globalThis.fetch;
  start: StartProcess;
  /** A vendor's key, and its URL with the version. Null: not set, or the vendor's default. */
  endpointOf(vendor: string): Promise<{ apiKey: string | null; baseUrl: string | null }>;
}

/** Starts a program in its own process group, which is killed with this process. */
export type StartProcess = (options: {
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The maximum size of any file that it writes. */
  fileBytesMax?: number;
}) => StartedProcess;

export interface StartedProcess {
  /** The id of the process and its group. Undefined if it could not be started. */
  readonly pid: Promise<number | undefined>;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once it has exited and its output was read. */
  readonly ended: Promise<{ code: number | null }>;
  /** Stops the whole group. */
  stop(): void;
}
