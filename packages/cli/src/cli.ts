import { readdirSync } from "node:fs";
import manifest from "../package.json" with { type: "json" };

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

/** Prints the result: one line of JSON if requested, otherwise text. Nothing else goes to standard output. */
export function printResult(cli: Cli, options: { json?: boolean }, value: unknown, text: string): void {
  cli.stdout.write(`${options.json ? JSON.stringify(value) : text}\n`);
}

/** Prints a message for people. Silent with `--json`. */
export function say(cli: Cli, options: { json?: boolean }, text: string): void {
  if (!options.json) cli.stderr.write(`${asTyped(text)}\n`);
}

// The published package is compiled, and puts `emend` on the path; a checkout runs its source and does not.
const typed = import.meta.url.endsWith(".ts") ? "npx emend" : "emend";
const commands = [
  ..."serve demo project key model secrets user automation webhook login profile job check claims".split(" "),
  ..."lsp mcp backup restore doctor budget completion".split(" "),
];
const named = new RegExp(`(?<![\\w@/.-])(?<!npx )emend (?=(?:${commands.join("|")})\\b)`, "g");

/** A text for people, with the commands in it as they are typed here. */
export function asTyped(text: string): string {
  return text.replaceAll(named, `${typed} `);
}

/** A word quoted for a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export const version: string = manifest.version;

/** With the commit that a package was built from, and the newest schema of the database that it knows. */
export function wholeVersion(): string {
  const { commit } = manifest as { commit?: string };
  const schema = readdirSync(new URL("../../server/src/db/migrations/", import.meta.url))
    .toSorted()
    .at(-1);
  const parts = [...(commit ? [`commit ${commit}`] : []), `schema ${schema?.replace(/\.sql$/, "")}`];
  return `${version} (${parts.join(", ")})`;
}
