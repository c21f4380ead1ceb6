import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface AddOptions {
  forge: "local";
  repo?: string;
  base?: string;
  docs?: string;
  data?: string;
  json?: boolean;
}

export function registerProjectAdd(project: Command, cli: Cli): void {
  const command = project
    .command("add")
    .description("add a project and print its id")
    .argument("<name>", "what people call it")
    .addOption(new Option("--forge <forge>", "the host of its repository").choices(["local"]).makeOptionMandatory())
    .option("--repo <path>", "git repository or folder to import; without it an empty repository is made")
    .option("--base <branch>", "the branch that pull requests go to (default: the repository's own)")
    .option("--docs <dir>", "folder of the docs inside the repository (default: its root)");
  withJson(withData(command)).action((name: string, options: AddOptions) => addProject(cli, name, options));
}

async function addProject(cli: Cli, name: string, options: AddOptions): Promise<void> {
  if (name.trim() === "") throw new CliError("usage", "the project needs a name");
  const repo = options.repo === undefined ? undefined : await existingFolder(resolve(options.repo));
  const project = await withAdmin(cli, options, (admin) =>
    admin.addProject({
      name,
      forge: options.forge,
      ...(repo === undefined ? {} : { repo }),
      ...(options.base === undefined ? {} : { base: options.base }),
      ...(options.docs === undefined ? {} : { docsDir: options.docs }),
    }),
  );
  printResult(cli, options, project, project.id);
  say(cli, options, `Added. Its repository is ${project.repositoryUrl}`);
  say(cli, options, `Next: emend key create --project ${project.id}`);
}

export async function existingFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new CliError("usage", `there is nothing at ${path}; give a git repository or a folder`);
  if (!found.isDirectory()) throw new CliError("usage", `${path} is a file; give a git repository or a folder`);
  return path;
}
