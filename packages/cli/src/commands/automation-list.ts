import type { Automation } from "@emend/server";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { minute } from "../terminal/minute.ts";
import { table } from "../terminal/table.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface ListOptions {
  project?: string;
  data?: string;
  json?: boolean;
}

export function registerAutomationList(automation: Command, cli: Cli): void {
  const command = automation
    .command("list")
    .description("list the automations")
    .option("--project <id>", "of this project alone");
  withJson(withData(command)).action((options: ListOptions) => listAutomations(cli, options));
}

async function listAutomations(cli: Cli, options: ListOptions): Promise<void> {
  const found = await withAdmin(cli, options, (admin) => admin.automations.list(options.project ?? null));
  if (found.length === 0) say(cli, options, "No automations yet. Add one: emend automation add PROJECT NAME PROMPT");
  if (found.length === 0 && !options.json) return;
  const rows = found.map((each) => [each.id, each.name, describeTrigger(each), stateOf(each), each.projectId]);
  printResult(cli, options, found, table([["ID", "NAME", "TRIGGER", "STATE", "PROJECT"], ...rows]));
}

export function describeTrigger({ trigger }: Automation): string {
  if (trigger.kind === "manual") return "by hand";
  if (trigger.kind === "cron") return `${trigger.expression} (${trigger.timezone})`;
  const refs = [...trigger.branches, ...trigger.tags.map((tag) => `tag ${tag}`)];
  return `push to ${trigger.repository}${refs.length > 0 ? `: ${refs.join(", ")}` : ""}`;
}

function stateOf({ trigger, pausedAt, dueAt, problem }: Automation): string {
  if (pausedAt !== null) return "paused";
  if (problem !== null) return "its repository is gone";
  return trigger.kind === "cron" && dueAt !== null ? `next ${minute(dueAt)}` : "live";
}
