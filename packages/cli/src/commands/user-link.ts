import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface LinkOptions {
  to: string;
  data?: string;
  json?: boolean;
}

export function registerUserLink(user: Command, cli: Cli): void {
  const command = user
    .command("link")
    .description("print a link that logs one browser in, once")
    .option("--to <page>", "path or address of the page that it lands on", "/app");
  withJson(withData(command)).action((options: LinkOptions) => printLink(cli, options));
}

async function printLink(cli: Cli, options: LinkOptions): Promise<void> {
  const url = await withAdmin(cli, options, (admin) => admin.createLoginLink(options.to));
  printResult(cli, options, { url }, url);
  say(cli, options, "It works once, for an hour. Whoever opens it is logged in, so keep it to yourself.");
}
