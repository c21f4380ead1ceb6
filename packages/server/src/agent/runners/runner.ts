/**
 * A runner is an agent program of the operator's that does a job in place of the loop: it gets a checkout, a prompt and
 * the model's credential, in a sandbox that reaches the model and nothing else. What it leaves in the checkout becomes
 * the overlay and passes the same review.
 */
export interface RunnerProgram {
  /** The part of the model's name after `runner/`. */
  name: string;
  /** Looked for on the server's PATH. */
  command: string;
  /** Whose credential and address it uses, as the language models do; `model`: what the job's name says of it. */
  vendorOf(model: string | null): string;
  /** The variables that carry the credential; empty values are left out. */
  environment(input: RunnerAccess): Readonly<Record<string, string>>;
  /** Files that it finds in its home. */
  homeFiles?(input: RunnerAccess): Readonly<Record<string, string>>;
  /** Its command line for one task without a person. The prompt comes on standard input. */
  arguments(input: { model: string | null; isSandboxed: boolean }): readonly string[];
  /** What it said in the end, from its standard output; throws where that is no answer of the program's. */
  readAnswer(stdout: string): RunnerAnswer;
}

export interface RunnerAccess {
  apiKey: string;
  /** Null: the vendor's own address. */
  baseUrl: string | null;
  model: string | null;
}

export interface RunnerAnswer {
  text: string;
  inputTokens?: number;
  cachedInputTokens?: number;
  outputTokens?: number;
  costUsd?: number;
}

/** Addresses of vendors, where none is configured. */
export const vendorAddresses: Readonly<Record<string, string>> = {
  anthropic: "https://api.anthropic.com",
  openai: "https://api.openai.com",
};

/** What the operator set. */
export interface RunnerSettings {
  /** Where programs are looked for. */
  path: string;
  /** Run them without a sandbox. */
  isUnsandboxed: boolean;
  /** Of all processes of one run together. */
  memoryBytesMax: number;
  /** A certificate authority that the model's address needs. */
  caFile: string | null;
  /** The operator's own proxy, which ours goes through. */
  httpsProxy: string | null;
}
