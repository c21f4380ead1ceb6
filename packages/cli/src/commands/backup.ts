import { resolve } from "node:path";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../cli.ts";
import { counted } from "../terminal/format.ts";
import { withAdmin, withNewAdmin } from "../with-admin.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

export function registerBackup(program: Command, cli: Cli): void {
  const command = program
    .command("backup")
    .description("write the whole installation, as of one moment, into a new folder; its server may run")
    .argument("<folder>", "where to; it must not exist yet");
  withJson(withData(command)).action((folder: string, options: AdminOptions) => backup(cli, folder, options));
}

const keepSecret =
  "Restoring it needs the same EMEND_SECRET, or where none is set the file `secret` of the data folder: keep that apart.";

async function backup(cli: Cli, folder: string, options: AdminOptions): Promise<void> {
  const target = resolve(folder);
  const manifest = await withAdmin(cli, options, (admin) => admin.backup(target, cli.signal));
  printResult(cli, options, { folder: target, ...figures(manifest) }, target);
  say(cli, options, `${described(manifest)}. ${keepSecret}`);
}

export function registerRestore(program: Command, cli: Cli): void {
  const command = program
    .command("restore")
    .description("fill an empty installation from a folder that backup wrote")
    .argument("<folder>", "the archive");
  withJson(withData(command)).action((folder: string, options: AdminOptions) => restore(cli, folder, options));
}

async function restore(cli: Cli, folder: string, options: AdminOptions): Promise<void> {
  const { assertArchive } = await import("@emend/server");
  const source = resolve(folder);
  const manifest = await withNewAdmin(
    cli,
    options,
    (admin) => admin.restore(source, cli.signal),
    (config) => assertArchive(config, source),
  );
  if (options.json) printResult(cli, options, figures(manifest), "");
  say(cli, options, `Restored: ${described(manifest)}, as of ${manifest.createdAt}.`);
}

interface Archived {
  createdAt: string;
  tables: readonly { rows: number }[];
  repositories: readonly unknown[];
}

function figures({ createdAt, tables, repositories }: Archived) {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return { createdAt, tables: tables.length, rows, repositories: repositories.length };
}

function described(manifest: Archived): string {
  const { rows, tables, repositories } = figures(manifest);
  return `${counted(rows, "row")} of ${counted(tables, "table")}, ${repositories} local ${repositories === 1 ? "repository" : "repositories"}`;
}
