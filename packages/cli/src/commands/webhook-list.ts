import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { table } from "../terminal/table.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface ListOptions {
  project: string;
  data?: string;
  json?: boolean;
}

export function registerWebhookList(webhook: Command, cli: Cli): void {
  const command = webhook
    .command("list")
    .description("list a project's webhooks, without their secrets")
    .requiredOption("--project <id>", "the project's id");
  withJson(withData(command)).action((options: ListOptions) => listWebhooks(cli, options));
}

async function listWebhooks(cli: Cli, options: ListOptions): Promise<void> {
  const found = await withAdmin(cli, options, (admin) => admin.listWebhooks(options.project));
  if (found.length === 0)
    say(cli, options, `There is no webhook yet: emend webhook add URL --project ${options.project}`);
  if (found.length === 0 && !options.json) return;
  const rows = found.map(({ id, url, format, events, disabledAt, disabledReason }) => [
    id,
    disabledAt === null ? "live" : `disabled: ${disabledReason ?? "by hand"}`,
    format,
    events.join(" "),
    url,
  ]);
  printResult(cli, options, found, table([["ID", "STATE", "FORMAT", "EVENTS", "URL"], ...rows]));
}
