import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { withNewAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface InviteOptions {
  role: "owner" | "maintainer" | "viewer";
  data?: string;
  json?: boolean;
}

export function registerUserInvite(user: Command, cli: Cli): void {
  const command = user
    .command("invite")
    .description("print a link by which one person joins")
    .argument("<email>", "the person's email address")
    .addOption(
      new Option("--role <role>", "what they may do").choices(["owner", "maintainer", "viewer"]).default("viewer"),
    );
  withJson(withData(command)).action((email: string, options: InviteOptions) => invite(cli, email, options));
}

async function invite(cli: Cli, email: string, options: InviteOptions): Promise<void> {
  const { link } = await withNewAdmin(cli, options, (admin) => admin.inviteMember({ email, role: options.role }));
  printResult(cli, options, { url: link }, link);
  say(cli, options, `It works once, for seven days. Send it to ${email}; Emend sends no mail.`);
}
