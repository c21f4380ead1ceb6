import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { table } from "../terminal/table.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface DeliveriesOptions {
  data?: string;
  json?: boolean;
}

export function registerWebhookDeliveries(webhook: Command, cli: Cli): void {
  const command = webhook
    .command("deliveries")
    .description("list what was posted to a webhook, newest first, and how it went")
    .argument("<id>", "the webhook's id");
  withJson(withData(command)).action((id: string, options: DeliveriesOptions) => listDeliveries(cli, id, options));
}

async function listDeliveries(cli: Cli, id: string, options: DeliveriesOptions): Promise<void> {
  const found = await withAdmin(cli, options, (admin) => admin.listDeliveries(id));
  if (found.length === 0) say(cli, options, "No deliveries yet.");
  if (found.length === 0 && !options.json) return;
  const rows = found.map(({ id, createdAt, event, state, tries, lastStatus, lastError, jobId }) => [
    id,
    new Date(createdAt).toISOString().slice(0, 19).replace("T", " "),
    event,
    state,
    String(tries),
    lastError ?? String(lastStatus ?? ""),
    jobId,
  ]);
  printResult(cli, options, found, table([["ID", "TIME", "EVENT", "STATE", "TRIES", "ANSWER", "JOB"], ...rows]));
}
