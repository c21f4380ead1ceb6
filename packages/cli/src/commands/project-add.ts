import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Admin } from "@emend/server";
import { type Command, Option } from "commander";
import { type Cli, CliError, printResult, say, shellWord } from "../cli.ts";
import { safeText } from "../terminal/format.ts";
import { withNewAdmin } from "../with-admin.ts";
import { type AdminOptions, forges, usualVariables, withData, withJson } from "./options.ts";

interface AddOptions extends AdminOptions {
  forge: string;
  tokenEnv?: string;
  app?: string | true;
  verified?: boolean;
  apiUrl?: string;
  label?: string[];
  reviewer?: string[];
  repo?: string;
  base?: string;
  docs?: string;
}

export function registerProjectAdd(project: Command, cli: Cli): void {
  const command = project
    .command("add")
    .description("add a project and print its id")
    .argument("<name>", "what people call it")
    .addOption(new Option("--forge <forge>", "the host of its repository").choices(forges).makeOptionMandatory())
    .option("--repo <url>", "its address; on the local forge, what to import (default: an empty repository is made)")
    .option("--token-env <variable>", "variable that holds the forge's token (default: the forge's usual one)")
    .option("--app [id]", "GitHub: an App's id, whose private key the variable holds; without an id, one is set up")
    .option("--verified", "GitHub Apps: let GitHub make and sign the commits")
    .option("--api-url <url>", "the forge's API, where it does not follow from the repository's address")
    .option("--label <name...>", "labels of its pull requests")
    .option("--reviewer <name...>", "people who are asked to review them")
    .option("--base <branch>", "the branch that pull requests go to (default: the repository's own)")
    .option("--docs <dir>", "folder of the docs inside the repository (default: its root)");
  withJson(withData(command)).action((name: string, options: AddOptions) => addProject(cli, name, options));
}

async function addProject(cli: Cli, name: string, options: AddOptions): Promise<void> {
  if (name.trim() === "") throw new CliError("usage", "the project needs a name");
  const isLocal = options.forge === "local";
  const repo = options.repo === undefined || !isLocal ? options.repo : await existingFolder(resolve(options.repo));
  const input = {
    name,
    forge: options.forge,
    ...(options.base === undefined ? {} : { base: options.base }),
    ...(options.docs === undefined ? {} : { docsDir: options.docs }),
    settings: { forge: forgeSettings(options) },
  };
  const credential = isLocal ? undefined : credentialOf(cli, options);
  const { project, namesakes, isEmpty } = await withNewAdmin(cli, options, async (admin) => {
    const others = (await admin.listProjects()).filter((other) => other.name === name);
    const repository = { ...(repo === undefined ? {} : { repo }), ...(credential === undefined ? {} : { credential }) };
    const added = await (options.app === true
      ? addWithApp(cli, options, admin, input)
      : admin.addProject({ ...input, ...repository }));
    return { project: added, namesakes: others, isEmpty: isLocal && (await admin.isEmptyLocal(added.id)) };
  });
  const { notice, ...result } = project;
  printResult(cli, options, result, project.id);
  say(cli, options, `Added. Its repository is ${project.repositoryUrl}`);
  if (notice !== undefined) say(cli, options, `Note: ${safeText(notice)}`);
  const same = namesakes.map(({ id }) => id).join(", ");
  if (same !== "") say(cli, options, `Note: it has the same name as ${same}; only their ids tell them apart.`);
  if (isEmpty) {
    const push = `git push ${project.repositoryUrl} HEAD:${options.base ?? "main"}`;
    say(cli, options, `It is empty, and jobs need a first commit: ${push} (any user name; a key is the password)`);
  }
  const data = options.data === undefined ? "" : ` --data ${shellWord(options.data)}`;
  say(cli, options, `Next: emend key create --project ${project.id}${data}`);
}

type NewProject = Parameters<Admin["addProject"]>[0];

/** GitHub creates the App for the person who opens the printed pages. */
function addWithApp(cli: Cli, options: AddOptions, admin: Admin, input: NewProject) {
  return admin.addGithubAppProject({ ...input, repo: options.repo ?? "" }, (step) =>
    say(
      cli,
      options,
      step.kind === "create"
        ? `Open ${step.url} in a browser on this machine, and create the App.`
        : `${step.name} was made. Install it on the repository: ${step.url}`,
    ),
  );
}

/**
 * What a remote project needs. All missing options are reported at once, before an installation is created. Tokens are
 * never arguments, because every user of the machine can see those, and shells store them.
 */
function credentialOf(cli: Cli, options: AddOptions): string | undefined {
  if (options.app === true && options.forge !== "github") throw new CliError("usage", "--app is for GitHub");
  const variable = options.tokenEnv ?? (usualVariables as Readonly<Record<string, string>>)[options.forge] ?? "";
  const token = options.app === true ? undefined : cli.env[variable];
  const missing = [
    ...(options.repo ? [] : ["the repository's address is missing: add --repo URL"]),
    ...(token || options.app === true
      ? []
      : [`the forge's token is missing: set ${variable}, or name its variable with --token-env`]),
  ];
  if (missing.length > 0) throw new CliError("usage", missing.join("; "));
  return typeof options.app === "string" ? JSON.stringify({ appId: options.app, privateKey: token }) : token;
}

function forgeSettings(options: AddOptions): Record<string, unknown> {
  return {
    ...(options.apiUrl === undefined ? {} : { apiUrl: options.apiUrl }),
    ...(options.verified ? { verifiedCommits: true } : {}),
    ...(options.label === undefined ? {} : { labels: options.label }),
    ...(options.reviewer === undefined ? {} : { reviewers: options.reviewer }),
  };
}

export async function existingFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new CliError("usage", `there is nothing at ${path}; give a git repository or a folder`);
  if (!found.isDirectory()) throw new CliError("usage", `${path} is a file; give a git repository or a folder`);
  return path;
}
