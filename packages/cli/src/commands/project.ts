import { type Command, Option } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { safeText, table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { projectIdOf, projectWords } from "./jobs-of.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

export function registerProjectList(project: Command, cli: Cli): void {
  const command = project.command("list").description("list the projects");
  withJson(withData(command)).action((options: AdminOptions) => listProjects(cli, options));
}

async function listProjects(cli: Cli, options: AdminOptions): Promise<void> {
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

interface SetOptions extends AdminOptions {
  repo?: string;
  follow?: boolean;
  tokenEnv?: string;
  app?: string;
}

export function registerProjectSet(project: Command, cli: Cli): void {
  const command = project
    .command("set")
    .description("give a project its repository's new address, a new token, or both")
    .argument("[project]", projectWords)
    .addOption(new Option("--repo <url>", "the repository's new address").conflicts("follow"))
    .option("--follow", "take the new address from the forge, once, where it renamed or moved the repository")
    .option("--token-env <variable>", "variable that holds the new token")
    .option("--app <id>", "GitHub: the id of the App whose private key the variable holds");
  withJson(withData(command)).action((given: string | undefined, options: SetOptions) =>
    setProject(cli, given, options),
  );
}

async function setProject(cli: Cli, given: string | undefined, options: SetOptions): Promise<void> {
  const { tokenEnv, app } = options;
  const token = tokenEnv === undefined ? undefined : cli.env[tokenEnv];
  if (tokenEnv !== undefined && !token) throw new CliError("usage", `the variable ${tokenEnv} is empty or not set`);
  if (app !== undefined && token === undefined) throw new CliError("usage", "--app needs --token-env with its key");
  const repo = options.follow ? "follow" : options.repo;
  if (repo === undefined && token === undefined) {
    throw new CliError("usage", "nothing to set: give --repo URL, --follow or --token-env VARIABLE");
  }
  const credential = app === undefined ? token : JSON.stringify({ appId: app, privateKey: token });
  const input = { ...(repo !== undefined && { repo }), ...(credential !== undefined && { credential }) };
  const { notice, ...result } = await withAdmin(cli, options, async (admin) =>
    admin.moveProject({ ...input, projectId: await projectIdOf(cli, admin, given) }),
  );
  printResult(cli, options, result, result.repositoryUrl);
  say(
    cli,
    options,
    `Set. Jobs use this repository${credential === undefined ? "" : " and the new token"} from now on.`,
  );
  if (notice !== undefined) say(cli, options, `Note: ${safeText(notice)}`);
}

const marks = { ok: "✓", problem: "✗", unknown: "?" } as const;

export function registerProjectDoctor(project: Command, cli: Cli): void {
  const command = project
    .command("doctor")
    .description("look whether the project's forge lets Emend do its work")
    .argument("[project]", projectWords);
  withJson(withData(command)).action((given: string | undefined, options: AdminOptions) =>
    diagnose(cli, given, options),
  );
}

async function diagnose(cli: Cli, given: string | undefined, options: AdminOptions): Promise<void> {
  const found = await withAdmin(cli, options, async (admin) =>
    admin.diagnoseProject(await projectIdOf(cli, admin, given)),
  );
  const lines = found.checks.map(({ name, verdict, words }) => `${marks[verdict]} ${name}: ${words}`);
  printResult(cli, options, found, [found.repositoryUrl, ...lines].join("\n"));
  if (found.checkedBy !== null) say(cli, options, `Checked by the worker on ${safeText(found.checkedBy)}.`);
  if (found.webhook) {
    say(cli, options, `Webhook, if you want comments heard at once: ${found.webhook.url}`);
    say(cli, options, `Its secret: ${found.webhook.secret}`);
  }
  const bad = found.checks.filter(({ verdict }) => verdict === "problem");
  if (bad.length > 0) throw new CliError("fault", `marked with ✗: ${bad.map(({ name }) => name).join(", ")}`);
}

export function registerProjectShow(project: Command, cli: Cli): void {
  const command = project
    .command("show")
    .description("show a project, without its token")
    .argument("[project]", projectWords);
  withJson(withData(command)).action(async (given: string | undefined, options: AdminOptions) => {
    const found = await withAdmin(cli, options, async (admin) =>
      admin.showProject(await projectIdOf(cli, admin, given)),
    );
    const rows = [
      ["id", found.id],
      ["name", found.name],
      ["forge", found.forge],
      ["repository", found.repositoryUrl],
      ["base", found.baseRef ?? "(default)"],
      ["docs", found.docsDir || "/"],
      ["token", found.hasCredential ? "stored" : "none"],
      ["created", found.createdAt],
    ];
    printResult(
      cli,
      options,
      found,
      rows.map(([name = "", value = ""]) => safeText(`${name.padEnd(12)}${value}`)).join("\n"),
    );
  });
}

export function registerProjectSettings(project: Command, cli: Cli): void {
  const command = project
    .command("settings")
    .description("print a project's settings as JSON, or change some: KEY=VALUE, or a JSON object")
    .argument("[project]", projectWords)
    .argument(
      "[changes...]",
      "such as lanes=2, limits.costUsdMax=5 or '{\"draft\":true}'; also name, baseRef and docsDir",
    )
    .option("--json", "print one line of JSON");
  withData(command).action((given: string | undefined, changes: string[], options: AdminOptions) => {
    // Without a project, the first word is a change.
    const isChange = given !== undefined && /^[\w.]+=|^\s*\{/.test(given);
    return editSettings(cli, isChange ? undefined : given, isChange ? [given, ...changes] : changes, options);
  });
}

async function editSettings(
  cli: Cli,
  given: string | undefined,
  changes: readonly string[],
  options: AdminOptions,
): Promise<void> {
  const { name, baseRef, docsDir, ...settings } = changes.map(parseChange).reduce(merge, {});
  const own = { name, baseRef, docsDir } as { name?: string; baseRef?: string | null; docsDir?: string };
  for (const [field, value] of Object.entries(own)) {
    if (value === undefined) delete own[field as keyof typeof own];
    else if (typeof value !== "string" && !(field === "baseRef" && value === null)) {
      throw new CliError("usage", `${field} must be a text`);
    }
  }
  const found = await withAdmin(cli, options, async (admin) => {
    const id = await projectIdOf(cli, admin, given);
    return changes.length === 0 ? admin.showProject(id) : admin.editProject(id, { ...own, settings });
  });
  printResult(cli, options, found.settings, JSON.stringify(found.settings, null, 2));
}

type Change = Record<string, unknown>;

/** `limits.costUsdMax=5` or a JSON object. A value that is not JSON is a string. */
function parseChange(text: string): Change {
  if (text.trimStart().startsWith("{")) {
    const parsed = parseJson(text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as Change;
    throw new CliError("usage", `this is not a JSON object: ${safeText(text.slice(0, 100))}`);
  }
  const [, path = "", value = ""] = /^([\w.]+)=(.*)$/s.exec(text) ?? [];
  const names = path.split(".");
  if (path === "" || names.includes("")) {
    throw new CliError("usage", `give KEY=VALUE or a JSON object, not ${safeText(text.slice(0, 100))}`);
  }
  const parsed = parseJson(value);
  return names.reduceRight<unknown>(
    (inner, name) => ({ [name]: inner }),
    parsed === undefined ? value : parsed,
  ) as Change;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function merge(one: Change, two: Change): Change {
  const merged = { ...one };
  for (const [name, value] of Object.entries(two)) {
    const old = merged[name];
    merged[name] = isRecord(old) && isRecord(value) ? { ...old, ...value } : value;
  }
  return merged;
}

function isRecord(value: unknown): value is Change {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function registerProjectRemove(project: Command, cli: Cli): void {
  const command = project
    .command("remove")
    .description("remove a project with its jobs, webhooks and keys' access; its repository stays")
    .argument("<project>", "the project's id or name")
    .requiredOption("--confirm <name>", "the project's name, typed again");
  withJson(withData(command)).action(async (given: string, options: AdminOptions & { confirm: string }) => {
    const gone = await withAdmin(cli, options, async (admin) => {
      const found = await admin.showProject(await admin.projectId(given));
      if (found.name !== options.confirm) {
        throw new CliError("usage", "--confirm is not the project's name, so nothing was removed");
      }
      await admin.removeProject(found.id);
      return found;
    });
    printResult(cli, options, { id: gone.id, name: gone.name }, gone.id);
    say(cli, options, `Removed. Its repository ${gone.repositoryUrl} is unchanged.`);
  });
}
