import { type Command, Option } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { safeText, table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface ListOptions {
  data?: string;
  json?: boolean;
}

export function registerProjectList(project: Command, cli: Cli): void {
  const command = project.command("list").description("list the projects");
  withJson(withData(command)).action((options: ListOptions) => listProjects(cli, options));
}

async function listProjects(cli: Cli, options: ListOptions): Promise<void> {
  const projects = await withAdmin(cli, options, (admin) => admin.listProjects());
  if (projects.length === 0)
    say(cli, options, "No projects yet. Add one: emend project add NAME --forge local --repo PATH");
  if (projects.length === 0 && !options.json) return;
  const rows = projects.map((project) => [
    project.id,
    project.name,
    project.forge,
    project.baseRef ?? "(default)",
    project.docsDir || "/",
    project.repositoryUrl,
  ]);
  const shown = projects.map(({ id, name, forge, repositoryUrl, baseRef, docsDir, createdAt }) => {
    return { id, name, forge, repositoryUrl, baseRef, docsDir, createdAt };
  });
  printResult(cli, options, shown, table([["ID", "NAME", "FORGE", "BASE", "DOCS", "REPOSITORY"], ...rows]));
}

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

interface DoctorOptions {
  data?: string;
  json?: boolean;
}

const marks = { ok: "✓", problem: "✗", unknown: "?" } as const;

export function registerProjectDoctor(project: Command, cli: Cli): void {
  const command = project
    .command("doctor")
    .description("look whether the project's forge lets Emend do its work")
    .argument("<id>", "the project's id");
  withJson(withData(command)).action((id: string, options: DoctorOptions) => diagnose(cli, id, options));
}

async function diagnose(cli: Cli, id: string, options: DoctorOptions): Promise<void> {
  const found = await withAdmin(cli, options, (admin) => admin.diagnoseProject(id));
  const lines = found.checks.map(({ name, verdict, words }) => `${marks[verdict]} ${name}: ${words}`);
  printResult(cli, options, found, [found.repositoryUrl, ...lines].join("\n"));
  if (found.webhook) {
    say(cli, options, `Webhook, if you want comments heard at once: ${found.webhook.url}`);
    say(cli, options, `Its secret: ${found.webhook.secret}`);
  }
  const bad = found.checks.filter(({ verdict }) => verdict === "problem");
  if (bad.length > 0) throw new CliError("fault", `${bad.map(({ name }) => name).join(", ")}: see above what to do`);
}
