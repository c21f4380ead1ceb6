import type { Command } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { vendorKeys } from "../model-hint.ts";
import { printResult, say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";
import { readSecret } from "./read-secret.ts";

interface KeyOptions {
  keyEnv?: string;
  keyFile?: string;
  data?: string;
  json?: boolean;
}

export function registerModelKey(key: Command, cli: Cli): void {
  const set = named(key.command("set").description("set a project's own key for a model vendor"))
    .option("--key-env <variable>", "variable that holds the key (default: the vendor's usual one)")
    .option("--key-file <file>", "file that holds the key");
  withJson(withData(set)).action((project: string, vendor: string, options: KeyOptions) =>
    setKey(cli, { project, vendor }, options),
  );
  const remove = named(key.command("remove").description("take it away: the installation's key is used again"));
  withJson(withData(remove)).action((project: string, vendor: string, options: KeyOptions) =>
    removeKey(cli, { project, vendor }, options),
  );
}

function named(command: Command): Command {
  return command
    .argument("<project>", "the project's id or name")
    .argument("<vendor>", "the part of a model's name before the slash, such as anthropic");
}

interface Whose {
  project: string;
  vendor: string;
}

async function setKey(cli: Cli, { project, vendor }: Whose, options: KeyOptions): Promise<void> {
  const usual = vendorKeys.find((one) => one.vendor === vendor)?.variable;
  const env = options.keyEnv ?? (options.keyFile === undefined ? usual : undefined);
  const key = await readSecret(cli, "the key", { env, file: options.keyFile });
  if (key === null) throw new CliError("usage", "the key is missing: name its variable with --key-env");
  await withAdmin(cli, options, async (admin) =>
    admin.setModelKey({ projectId: await admin.projectId(project), vendor, key }),
  );
  printResult(cli, options, { project, vendor, key: "set" }, project);
  say(cli, options, `Stored, sealed with EMEND_SECRET. Jobs that begin from now on use it for ${vendor}/….`);
}

async function removeKey(cli: Cli, { project, vendor }: Whose, options: KeyOptions): Promise<void> {
  const gone = await withAdmin(cli, options, async (admin) =>
    admin.setModelKey({ projectId: await admin.projectId(project), vendor, key: null }),
  );
  if (!gone) throw new CliError("refused", `the project ${project} has no own key for ${vendor}`);
  printResult(cli, options, { project, vendor, key: "removed" }, project);
  say(cli, options, `Removed. Its jobs use the installation's key for ${vendor}/…, if there is one.`);
}
