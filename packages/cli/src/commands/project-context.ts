import { type Command, Option } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { projectIdOf, projectWords, splitWords, withProject } from "./jobs-of.ts";
import { type AdminOptions, forges, withData, withJson } from "./options.ts";

interface AddOptions extends AdminOptions {
  forge: string;
  repo: string;
  apiUrl?: string;
  base?: string;
  tokenEnv?: string;
  app?: string;
}

type Word = string | undefined;

/** The repositories that a project's jobs may read but not write. */
export function registerProjectContext(project: Command, cli: Cli): void {
  const context = project.command("context").description("repositories that the project's jobs may read");
  context.helpCommand(false);

  const add = withProject(
    context.command("add").description("let the project's jobs read another repository (10 at most)"),
    [["name", "what the agent calls it: @<name>/<path>"]],
  )
    .addOption(new Option("--forge <forge>", "the host of the repository").choices(forges).makeOptionMandatory())
    .requiredOption("--repo <url>", "its address; on the local forge, the id of the project whose repository it is")
    .option("--api-url <url>", "the forge's API, where it does not follow from the repository's address")
    .option("--base <branch>", "the branch to read (default: the repository's own)")
    .option("--token-env <variable>", "variable that holds a token that may read it (default: none is sent)")
    .option("--app <id>", "GitHub: an App's id; the variable holds its private key");
  withJson(withData(add)).action((first: Word, second: Word, options: AddOptions) => {
    const { project: given, rest } = splitWords([first, second], ["name"]);
    return addContext(cli, given, rest[0] as string, options);
  });

  const list = context
    .command("list")
    .description("list the repositories that the project's jobs may read")
    .argument("[project]", projectWords);
  withJson(withData(list)).action((given: Word, options: AdminOptions) => listContext(cli, given, options));

  const remove = withProject(
    context.command("remove").description("let the project's jobs read a repository no longer"),
    [["name", "its name"]],
  );
  withJson(withData(remove)).action((first: Word, second: Word, options: AdminOptions) => {
    const { project: given, rest } = splitWords([first, second], ["name"]);
    return removeContext(cli, given, rest[0] as string, options);
  });
}

async function addContext(cli: Cli, given: Word, name: string, options: AddOptions): Promise<void> {
  const { forge, repo, base, apiUrl } = options;
  const credential = credentialOf(cli, options);
  const added = await withAdmin(cli, options, async (admin) =>
    admin.addContextRepository({
      projectId: await projectIdOf(cli, admin, given),
      name,
      forge,
      repo,
      ...(base === undefined ? {} : { base }),
      ...(apiUrl === undefined ? {} : { apiUrl }),
      ...(credential === undefined ? {} : { credential }),
    }),
  );
  printResult(cli, options, added, added.name);
  say(cli, options, `Added. Jobs read ${added.repositoryUrl} as @${added.name}/`);
}

/** Tokens are never arguments, because every user of the machine can see those, and shells store them. */
function credentialOf(cli: Cli, options: AddOptions): string | undefined {
  if (options.tokenEnv === undefined) {
    if (options.app !== undefined) throw new CliError("usage", "name the App's private key with --token-env");
    return undefined;
  }
  const value = cli.env[options.tokenEnv];
  if (!value) throw new CliError("usage", `${options.tokenEnv} is not set`);
  return options.app === undefined ? value : JSON.stringify({ appId: options.app, privateKey: value });
}

async function listContext(cli: Cli, given: Word, options: AdminOptions): Promise<void> {
  const found = await withAdmin(cli, options, async (admin) =>
    admin.listContextRepositories(await projectIdOf(cli, admin, given)),
  );
  if (found.length === 0) say(cli, options, "No context repositories yet.");
  if (found.length === 0 && !options.json) return;
  const rows = found.map((one) => [
    one.name,
    one.forge,
    one.baseRef ?? "(default)",
    one.hasCredential ? "yes" : "no",
    one.repositoryUrl,
  ]);
  printResult(cli, options, found, table([["NAME", "FORGE", "BRANCH", "TOKEN", "REPOSITORY"], ...rows]));
}

async function removeContext(cli: Cli, given: Word, name: string, options: AdminOptions): Promise<void> {
  const isRemoved = await withAdmin(cli, options, async (admin) =>
    admin.removeContextRepository({ projectId: await projectIdOf(cli, admin, given), name }),
  );
  if (!isRemoved) throw new CliError("refused", `the project has no context repository ${name}`);
  printResult(cli, options, { name, removed: true }, `Removed ${name}.`);
}
