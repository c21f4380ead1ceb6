import type { Cli } from "./cli.ts";
import { asTyped } from "./run-as.ts";

/** Prints the result: one line of JSON if requested, otherwise text. Nothing else goes to standard output. */
export function printResult(cli: Cli, options: { json?: boolean }, value: unknown, text: string): void {
  cli.stdout.write(`${options.json ? JSON.stringify(value) : text}\n`);
}

/** Prints a message for people. Silent with `--json`. */
export function say(cli: Cli, options: { json?: boolean }, text: string): void {
  if (!options.json) cli.stderr.write(`${asTyped(text)}\n`);
}
