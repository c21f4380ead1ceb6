import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface ResetOptions {
  data?: string;
  json?: boolean;
}

export function registerUserReset(user: Command, cli: Cli): void {
  const command = user
    .command("reset")
    .description("print a link by which a person sets a new password")
    .argument("<email>", "the person's email address");
  withJson(withData(command)).action((email: string, options: ResetOptions) => reset(cli, email, options));
}

async function reset(cli: Cli, email: string, options: ResetOptions): Promise<void> {
  const url = await withAdmin(cli, options, (admin) => admin.createResetLink(email));
  printResult(cli, options, { url }, url);
  say(cli, options, "It works once, for an hour. The old password works until then; every session ends with it.");
}
