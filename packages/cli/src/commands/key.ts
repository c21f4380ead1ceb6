import { type Command, Option } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { minute, table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { projectIdOf } from "./jobs-of.ts";
import { type AdminOptions, parseExpiry, parseRange, withData, withJson } from "./options.ts";

interface CreateOptions extends AdminOptions {
  project?: readonly string[];
  name: string;
  expires?: Date;
  readOnly?: boolean;
  manage?: boolean;
  allow?: readonly string[];
}

export function registerKeyCreate(key: Command, cli: Cli): void {
  const command = key
    .command("create")
    .description("create a key and print it once")
    .option(
      "--project <project...>",
      "project that the key covers, by id or name; give several for several (default: EMEND_PROJECT, or the only one)",
    )
    .option("--name <name>", "where the key will live", "unnamed")
    .option("--expires <when>", "12h, 90d, 4w, 1y or a date (default: never)", (text: string) => parseExpiry(text))
    .addOption(new Option("--read-only", "the key may read jobs and create none").conflicts("manage"))
    .option("--manage", "the key may also change what maintainers do, such as webhooks")
    .option("--allow <range...>", "addresses or ranges that may use it (default: any)", parseRange);
  withJson(withData(command)).action((options: CreateOptions) => createKey(cli, options));
}

async function createKey(cli: Cli, options: CreateOptions): Promise<void> {
  const created = await withAdmin(cli, options, async (admin) =>
    admin.createKey({
      projectIds: await Promise.all((options.project ?? [undefined]).map((one) => projectIdOf(cli, admin, one))),
      name: options.name,
      scope: options.readOnly ? "read" : options.manage ? "manage" : "write",
      ...(options.expires === undefined ? {} : { expiresAt: options.expires }),
      ...(options.allow === undefined ? {} : { allowList: options.allow }),
    }),
  );
  printResult(cli, options, created, created.key);
  if (created.cell) say(cli, options, `Only cell ${created.cell} knows this key.`);
  say(cli, options, `This is the only time that the key is shown. To revoke it: emend key revoke ${created.id}`);
}

export function registerKeyList(key: Command, cli: Cli): void {
  const command = key.command("list").description("list the keys, without their secrets");
  withJson(withData(command)).action((options: AdminOptions) => listKeys(cli, options));
}

async function listKeys(cli: Cli, options: AdminOptions): Promise<void> {
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

export function registerKeyRevoke(key: Command, cli: Cli): void {
  const command = key.command("revoke").description("revoke a key").argument("<id>", "the key's id, from key list");
  withJson(withData(command)).action((id: string, options: AdminOptions) => revokeKey(cli, id, options));
}

async function revokeKey(cli: Cli, id: string, options: AdminOptions): Promise<void> {
  const kind = await withAdmin(cli, options, (admin) => admin.revokeKey(id));
  if (kind === "unknown_key") {
    throw new CliError("refused", `there is no key with the id ${id}; emend key list shows them`);
  }
  if (options.json) cli.stdout.write(`${JSON.stringify({ id, revoked: true })}\n`);
  const isNew = kind === "revoked";
  say(cli, options, isNew ? "Revoked. It stops working within a second, on every node." : "It was already revoked.");
}
