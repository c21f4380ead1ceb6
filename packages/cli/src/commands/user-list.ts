import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { minute } from "../terminal/minute.ts";
import { safeText } from "../terminal/safe-text.ts";
import { table } from "../terminal/table.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface ListOptions {
  data?: string;
  json?: boolean;
}

export function registerUserList(user: Command, cli: Cli): void {
  const command = user.command("list").description("list the people who may log in");
  withJson(withData(command)).action((options: ListOptions) => listUsers(cli, options));
}

async function listUsers(cli: Cli, options: ListOptions): Promise<void> {
  const users = await withAdmin(cli, options, (admin) => admin.listMembers());
  if (users.length === 0) say(cli, options, "There is nobody yet: emend user link prints a link for the owner.");
  if (users.length === 0 && !options.json) return;
  const rows = users.map((user) => [
    safeText(user.email),
    user.role,
    user.hasPassword ? "password" : "single sign-on",
    user.lastLoginAt ? minute(user.lastLoginAt) : "never",
    safeText(user.name),
  ]);
  printResult(cli, options, users, table([["E-MAIL", "ROLE", "BY", "LAST LOGIN", "NAME"], ...rows]));
}
