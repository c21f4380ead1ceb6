import type { Command } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { withAdmin } from "../with-admin.ts";
import { projectIdOf, splitWords, withProject } from "./jobs-of.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";
import { readSecret } from "./secrets.ts";

interface KeyOptions extends AdminOptions {
  keyEnv?: string;
  keyFile?: string;
}

export function registerModelKey(key: Command, cli: Cli): void {
  const set = named(key.command("set").description("set a project's own key for a model vendor"))
    .option("--key-env <variable>", "variable that holds the key (default: the vendor's usual one)")
    .option("--key-file <file>", "file that holds the key");
  withJson(withData(set)).action((first: Word, second: Word, options: KeyOptions) =>
    setKey(cli, whose(first, second), options),
  );
  const remove = named(key.command("remove").description("take it away: the installation's key is used again"));
  withJson(withData(remove)).action((first: Word, second: Word, options: KeyOptions) =>
    removeKey(cli, whose(first, second), options),
  );
}

function named(command: Command): Command {
  return withProject(command, [["vendor", "the part of a model's name before the slash, such as anthropic"]]);
}

type Word = string | undefined;

interface Whose {
  project: Word;
  vendor: string;
}

function whose(first: Word, second: Word): Whose {
  const { project, rest } = splitWords([first, second], ["vendor"]);
  return { project, vendor: rest[0] as string };
}

async function setKey(cli: Cli, { project, vendor }: Whose, options: KeyOptions): Promise<void> {
  const { isModelVendor, modelVendors } = await import("@emend/contract");
  const usual = isModelVendor(vendor) ? modelVendors[vendor].key : undefined;
  const env = options.keyEnv ?? (options.keyFile === undefined ? usual : undefined);
  const key = await readSecret(cli, "the key", { env, file: options.keyFile });
  if (key === null) throw new CliError("usage", "the key is missing: name its variable with --key-env");
  const projectId = await withAdmin(cli, options, async (admin) => {
    const id = await projectIdOf(cli, admin, project);
    await admin.setModelKey({ projectId: id, vendor, key });
    return id;
  });
  printResult(cli, options, { project: projectId, vendor, key: "set" }, projectId);
  say(cli, options, `Stored, sealed with EMEND_SECRET. Jobs that begin from now on use it for ${vendor}/….`);
}

async function removeKey(cli: Cli, { project, vendor }: Whose, options: KeyOptions): Promise<void> {
  const { gone, projectId } = await withAdmin(cli, options, async (admin) => {
    const id = await projectIdOf(cli, admin, project);
    return { gone: await admin.setModelKey({ projectId: id, vendor, key: null }), projectId: id };
  });
  if (!gone) throw new CliError("refused", `the project ${project ?? projectId} has no own key for ${vendor}`);
  printResult(cli, options, { project: projectId, vendor, key: "removed" }, projectId);
  say(cli, options, `Removed. Its jobs use the installation's key for ${vendor}/…, if there is one.`);
}
