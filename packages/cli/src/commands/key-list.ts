import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { minute } from "../terminal/minute.ts";
import { table } from "../terminal/table.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface ListOptions {
  data?: string;
  json?: boolean;
}

export function registerKeyList(key: Command, cli: Cli): void {
  const command = key.command("list").description("list the keys, without their secrets");
  withJson(withData(command)).action((options: ListOptions) => listKeys(cli, options));
}

async function listKeys(cli: Cli, options: ListOptions): Promise<void> {
  const keys = await withAdmin(cli, options, (admin) => admin.listKeys());
  if (keys.length === 0) say(cli, options, "No keys yet. Create one: emend key create --project ID");
  if (keys.length === 0 && !options.json) return;
  const rows = keys.map((key) => [
    key.id,
    `${key.hint}…`,
    key.name,
    key.scope,
    stateOf(key),
    key.lastUsedAt ? minute(key.lastUsedAt) : "never",
    key.projectIds.join(" "),
  ]);
  printResult(cli, options, keys, table([["ID", "KEY", "NAME", "SCOPE", "STATE", "LAST USED", "PROJECTS"], ...rows]));
}

function stateOf(key: { revokedAt: Date | string | null; expiresAt: Date | string | null }): string {
  if (key.revokedAt) return "revoked";
  if (!key.expiresAt) return "live";
  return new Date(key.expiresAt).getTime() <= Date.now() ? "expired" : `until ${minute(key.expiresAt).slice(0, 10)}`;
}
