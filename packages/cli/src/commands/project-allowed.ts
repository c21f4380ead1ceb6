import type { Command } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { minute, table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { projectIdOf, projectWords, splitWords, withProject } from "./jobs-of.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

type Word = string | undefined;

/** What people allowed on a project's site with "Publish and allow here". */
export function registerProjectAllowed(project: Command, cli: Cli): void {
  const allowed = project.command("allowed").description("constructs that are published without a question");
  allowed.helpCommand(false);

  const list = allowed
    .command("list")
    .description("list what people allowed on the project's site")
    .argument("[project]", projectWords);
  withJson(withData(list)).action((given: Word, options: AdminOptions) => listAllowed(cli, given, options));

  const remove = withProject(
    allowed.command("remove").description("ask again about a construct on the project's site"),
    [["construct", "as the list shows it"]],
  );
  withJson(withData(remove)).action((first: Word, second: Word, options: AdminOptions) => {
    const { project: given, rest } = splitWords([first, second], ["construct"]);
    return removeAllowed(cli, given, rest[0] as string, options);
  });
}

async function listAllowed(cli: Cli, given: Word, options: AdminOptions): Promise<void> {
  const found = await withAdmin(cli, options, async (admin) =>
    admin.listAllowedConstructs(await projectIdOf(cli, admin, given)),
  );
  if (found.length === 0) say(cli, options, "No construct was allowed on this site yet.");
  if (found.length === 0 && !options.json) return;
  const rows = found.map(({ key, by, at }) => [key, by, minute(at)]);
  printResult(cli, options, found, table([["CONSTRUCT", "ALLOWED BY", "SINCE"], ...rows]));
}

async function removeAllowed(cli: Cli, given: Word, key: string, options: AdminOptions): Promise<void> {
  const isRemoved = await withAdmin(cli, options, async (admin) =>
    admin.removeAllowedConstruct({ projectId: await projectIdOf(cli, admin, given), key }),
  );
  if (!isRemoved) throw new CliError("refused", `this is not allowed on the project's site: ${key}`);
  printResult(cli, options, { key, removed: true }, `Emend asks again about ${key}.`);
}
