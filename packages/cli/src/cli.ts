/** The parts of the process that a command uses. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  /** Results only: a script may read it. */
  stdout: NodeJS.WriteStream;
  /** Messages for people, and errors. */
  stderr: NodeJS.WriteStream;
  /** Aborted by the first SIGINT or SIGTERM. */
  signal: AbortSignal;
}

export const exitCodes = { done: 0, fault: 1, usage: 2, jobFailed: 3, refused: 4, interrupted: 130 } as const;

/** An expected failure: one line that says what happened and what to do, and the exit code. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(kind: keyof typeof exitCodes, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "CliError";
    this.exitCode = exitCodes[kind];
  }
}
