import { open } from "node:fs/promises";
import type { Command } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

interface EraseOptions extends AdminOptions {
  confirm: string;
  export?: string;
}

const backups = "Backups that were made before still have it: delete them, or erase again after a restore.";

export function registerProjectErase(project: Command, cli: Cli): void {
  const command = project
    .command("erase")
    .description("delete a project, its hosted repository, and every row that names it, also in the audit log")
    .argument("<project>", "the project's id or name")
    .requiredOption("--confirm <name>", "the project's name, typed again")
    .option("--export <file>", "first write its rows to this new file, as lines of JSON");
  withJson(withData(command)).action(async (given: string, options: EraseOptions) => {
    const { rows } = await withAdmin(cli, options, async (admin) => {
      const found = await admin.showProject(await admin.projectId(given));
      if (found.name !== options.confirm) {
        throw new CliError("usage", "--confirm is not the project's name, so nothing was erased");
      }
      return withExport(options, (keep) => admin.eraseProject(found.id, keep));
    });
    report(cli, options, rows, `Workers delete their copies of its repository within the hour. ${backups}`);
  });
}

export function registerJobErase(job: Command, cli: Cli): void {
  const command = job
    .command("erase")
    .description("delete a job that has ended, and every row that names it; its pull request stays")
    .argument("<job>", "the job's id")
    .requiredOption("--confirm <job>", "the job's id, typed again")
    .option("--export <file>", "first write its rows to this new file, as lines of JSON");
  withJson(withData(command)).action(async (id: string, options: EraseOptions) => {
    if (id !== options.confirm) throw new CliError("usage", "--confirm is not the job's id, so nothing was erased");
    const { rows } = await withAdmin(cli, options, (admin) => withExport(options, (keep) => admin.eraseJob(id, keep)));
    report(cli, options, rows, backups);
  });
}

export function registerUserErase(user: Command, cli: Cli): void {
  const command = user
    .command("erase")
    .description("delete a person's account, and their address and id from every row; their jobs stay, without a name")
    .argument("<email>", "the person's email address")
    .requiredOption("--confirm <email>", "the address, typed again");
  withJson(withData(command)).action(async (email: string, options: EraseOptions) => {
    if (email !== options.confirm) throw new CliError("usage", "--confirm is not the address, so nothing was erased");
    const { rows } = await withAdmin(cli, options, (admin) => admin.erasePerson(email));
    report(cli, options, rows, `Pages and commits in repositories were not looked into. ${backups}`);
  });
}

/** Creates the file only if it does not exist: an export must not replace another one. */
async function withExport<T>(
  options: EraseOptions,
  erase: (keep?: (table: string, row: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  if (options.export === undefined) return erase();
  const path = options.export;
  const file = await open(path, "wx", 0o600).catch((error) => {
    throw new CliError("usage", `--export cannot create ${path}: ${error.message}; nothing was erased`, error);
  });
  try {
    return await erase(async (name, row) => {
      await file.write(`${JSON.stringify({ table: name, row: JSON.parse(row) })}\n`);
    });
  } finally {
    await file.close();
  }
}

function report(cli: Cli, options: EraseOptions, rows: Readonly<Record<string, number>>, after: string): void {
  const lines = Object.entries(rows).map(([name, count]) => [name, String(count)]);
  printResult(cli, options, { rows }, table([["TABLE", "ROWS"], ...lines]));
  say(cli, options, after);
}
