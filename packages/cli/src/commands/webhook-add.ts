import type { Admin } from "@emend/server";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

type NewWebhook = Parameters<Admin["addWebhook"]>[0];

interface AddOptions {
  project: string;
  format: NonNullable<NewWebhook["format"]>;
  event?: NonNullable<NewWebhook["events"]>;
  data?: string;
  json?: boolean;
}

export function registerWebhookAdd(webhook: Command, cli: Cli): void {
  const command = webhook
    .command("add")
    .description("post a project's events to an address, and print the secret that signs them, this once")
    .argument("<url>", "where to")
    .requiredOption("--project <id>", "the project's id")
    .addOption(new Option("--format <format>", "what is posted").choices(["standard", "slack"]).default("standard"))
    .option("--event <type...>", "only these, such as job.failed (default: all)");
  withJson(withData(command)).action((url: string, options: AddOptions) => addWebhook(cli, url, options));
}

async function addWebhook(cli: Cli, url: string, options: AddOptions): Promise<void> {
  const { project, format, event } = options;
  const input = { projectId: project, url, format, ...(event === undefined ? {} : { events: event }) };
  const added = await withAdmin(cli, options, (admin) => admin.addWebhook(input));
  printResult(cli, options, added, added.secret);
  if (added.needsPrivate) {
    const rule = "servers post there only while EMEND_ALLOW_PRIVATE_WEBHOOKS=true is set where they run";
    say(cli, options, `The address is not an https one on the public internet: ${rule}.`);
  }
  say(cli, options, `This is the only time that the secret is shown. To remove it: emend webhook remove ${added.id}`);
}
