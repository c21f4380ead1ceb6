import type { Cli } from "./cli.ts";

/** The result: JSON on one line where asked for, otherwise text. Always alone on standard output. */
export function printResult(cli: Cli, options: { json?: boolean }, value: unknown, text: string): void {
  cli.stdout.write(`${options.json ? JSON.stringify(value) : text}\n`);
}

/** Words beside the result, for a person. With `--json` nobody reads them. */
export function say(cli: Cli, options: { json?: boolean }, text: string): void {
  if (!options.json) cli.stderr.write(`${text}\n`);
}
