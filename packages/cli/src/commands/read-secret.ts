import { readFile } from "node:fs/promises";
import { type Cli, CliError } from "../cli.ts";

/** Secrets are never arguments, because every user of the machine can see those, and shells store them. */
export interface SecretSource {
  /** The variable that holds it. */
  env?: string;
  /** The file that holds it. */
  file?: string;
}

/** Null if neither is given. `what`: the start of the sentence "… is empty". */
export async function readSecret(cli: Cli, what: string, source: SecretSource): Promise<string | null> {
  if (source.env !== undefined && source.file !== undefined) {
    throw new CliError("usage", `${what} is named twice: keep the variable or the file`);
  }
  if (source.env !== undefined) return filled(cli.env[source.env], what, `the variable ${source.env}`);
  if (source.file === undefined) return null;
  const text = await readFile(source.file, "utf8").catch((error: unknown) => {
    throw new CliError("usage", `${what} cannot be read: there is no readable file ${source.file}`, error);
  });
  return filled(text, what, `the file ${source.file}`);
}

function filled(text: string | undefined, what: string, place: string): string {
  const value = text?.trim();
  if (value) return value;
  throw new CliError("usage", `${what} is missing: ${place} is not set or empty`);
}
