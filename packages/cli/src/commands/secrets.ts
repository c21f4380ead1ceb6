import { readFile } from "node:fs/promises";
import type { Admin } from "@emend/server";
import type { Command } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { counted } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

interface RotateOptions extends AdminOptions {
  fromEnv?: string;
  fromFile?: string;
  toEnv?: string;
  toFile?: string;
}

export function registerSecretsRotate(secrets: Command, cli: Cli): void {
  const command = secrets
    .command("rotate")
    .description("seal every stored credential with a new EMEND_SECRET, while no server runs")
    .option("--from-env <variable>", "variable that holds the old secret (default: the one in use)")
    .option("--from-file <file>", "file that holds the old secret")
    .option("--to-env <variable>", "variable that holds the new secret")
    .option("--to-file <file>", "file that holds the new secret (default: one is made, if EMEND_SECRET is not set)");
  withJson(withData(command)).action((options: RotateOptions) => rotate(cli, options));
}

async function rotate(cli: Cli, options: RotateOptions): Promise<void> {
  const from = await readSecret(cli, "the old secret", { env: options.fromEnv, file: options.fromFile });
  const to = await readSecret(cli, "the new secret", { env: options.toEnv, file: options.toFile });
  const rotation = (admin: Admin) => admin.rotateSecret({ from, to });
  // The current one may already be the new one. The rotation finds out which secrets decrypt the stored values.
  const done = await withAdmin(cli, options, rotation, { checksSecret: false });
  printResult(cli, options, done, String(done.resealed));
  const next =
    done.keptIn === null
      ? "Start every server with EMEND_SECRET set to the new secret."
      : `The new secret is kept in ${done.keptIn}: servers find it there.`;
  say(cli, options, `${counted(done.resealed, "credential")} sealed with the new secret. ${next}`);
  say(cli, options, "Webhooks that forges send have new secrets: emend project doctor shows each.");
}

/** Secrets are never arguments, because every user of the machine can see those, and shells store them. */
interface SecretSource {
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
