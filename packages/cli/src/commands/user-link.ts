import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { withNewAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface LinkOptions {
  to?: string;
  data?: string;
  json?: boolean;
}

export function registerUserLink(user: Command, cli: Cli): void {
  const command = user
    .command("link")
    .description("print a link, good for once: it makes the first person the owner, and later logs a browser in")
    .option("--to <page>", "log in at once, and land on this path or address (default, once there is an owner: /app)");
  withJson(withData(command)).action((options: LinkOptions) => printLink(cli, options));
}

async function printLink(cli: Cli, options: LinkOptions): Promise<void> {
  const { url, forOwner } = await withNewAdmin(cli, options, async (admin) => {
    const owner = options.to === undefined ? await admin.ownerLink({ isNew: true }) : null;
    return { url: owner ?? (await admin.createLoginLink(options.to ?? "/app")), forOwner: owner !== null };
  });
  printResult(cli, options, { url }, url);
  say(
    cli,
    options,
    forOwner
      ? "It works once, for a day, and replaces earlier links. The person who opens it becomes the owner, so keep it secret."
      : "It works once, for an hour. Anyone who opens it is logged in, so keep it secret.",
  );
}
