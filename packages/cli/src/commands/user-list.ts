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
  const command = user.command("list").description("list the people who may log in, and who is invited");
  withJson(withData(command)).action((options: ListOptions) => listUsers(cli, options));
}

async function listUsers(cli: Cli, options: ListOptions): Promise<void> {
  const [users, invitations] = await withAdmin(cli, options, (admin) =>
    Promise.all([admin.listMembers(), admin.listInvitations()]),
  );
  if (users.length === 0) {
    const who = invitations.length === 0 ? "No users yet" : "No members yet";
    say(cli, options, `${who}: emend user link prints a link for the owner.`);
  }
  if (users.length + invitations.length === 0 && !options.json) return;
  const members = users.map((user) => [
    safeText(user.email),
    user.role,
    user.hasPassword ? "password" : "single sign-on",
    user.lastLoginAt ? minute(user.lastLoginAt) : "never",
    safeText(user.name),
  ]);
  const invited = invitations.map(({ email, role, expiresAt }) => [
    safeText(email),
    role,
    "invited",
    "never",
    `until ${minute(expiresAt)}`,
  ]);
  const heading = ["E-MAIL", "ROLE", "BY", "LAST LOGIN", "NAME"];
  const everybody = [
    ...users.map((user) => ({ ...user, status: "member" })),
    ...invitations.map(({ id: _, ...invitation }) => ({ ...invitation, status: "invited" })),
  ];
  printResult(cli, options, everybody, table([heading, ...members, ...invited]));
}
