import { type Command, Option } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { safeText } from "../terminal/safe-text.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface SetOptions {
  repo?: string;
  follow?: boolean;
  tokenEnv?: string;
  app?: string;
  data?: string;
  json?: boolean;
}

export function registerProjectSet(project: Command, cli: Cli): void {
  const command = project
    .command("set")
    .description("give a project its repository's new address, a new token, or both")
    .argument("<id>", "the project's id")
    .addOption(new Option("--repo <url>", "the repository's new address").conflicts("follow"))
    .option("--follow", "take the new address from the forge, once, where it renamed or moved the repository")
    .option("--token-env <variable>", "variable that holds the new token")
    .option("--app <id>", "GitHub: the id of the App whose private key the variable holds");
  withJson(withData(command)).action((id: string, options: SetOptions) => setProject(cli, id, options));
}

async function setProject(cli: Cli, id: string, options: SetOptions): Promise<void> {
  const { tokenEnv, app } = options;
  const token = tokenEnv === undefined ? undefined : cli.env[tokenEnv];
  if (tokenEnv !== undefined && !token) throw new CliError("usage", `the variable ${tokenEnv} is empty or not set`);
  if (app !== undefined && token === undefined) throw new CliError("usage", "--app needs --token-env with its key");
  const repo = options.follow ? "follow" : options.repo;
  if (repo === undefined && token === undefined) {
    throw new CliError("usage", "nothing to set: give --repo URL, --follow or --token-env VARIABLE");
  }
  const credential = app === undefined ? token : JSON.stringify({ appId: app, privateKey: token });
  const input = { projectId: id, ...(repo !== undefined && { repo }), ...(credential !== undefined && { credential }) };
  const { notice, ...result } = await withAdmin(cli, options, (admin) => admin.moveProject(input));
  printResult(cli, options, result, result.repositoryUrl);
  say(
    cli,
    options,
    `Set. Jobs use this repository${credential === undefined ? "" : " and the new token"} from now on.`,
  );
  if (notice !== undefined) say(cli, options, `Note: ${safeText(notice)}`);
}
