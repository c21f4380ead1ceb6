import type { Command } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface RevokeOptions {
  data?: string;
  json?: boolean;
}

export function registerKeyRevoke(key: Command, cli: Cli): void {
  const command = key.command("revoke").description("revoke a key").argument("<id>", "the key's id, from key list");
  withJson(withData(command)).action((id: string, options: RevokeOptions) => revokeKey(cli, id, options));
}

async function revokeKey(cli: Cli, id: string, options: RevokeOptions): Promise<void> {
  const kind = await withAdmin(cli, options, (admin) => admin.revokeKey(id));
  if (kind === "unknown_key") {
    throw new CliError("refused", `there is no key with the id ${id}; emend key list shows them`);
  }
  if (options.json) cli.stdout.write(`${JSON.stringify({ id, revoked: true })}\n`);
  const isNew = kind === "revoked";
  say(cli, options, isNew ? "Revoked. It stops working within a second, on every node." : "It was already revoked.");
}
