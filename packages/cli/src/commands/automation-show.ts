import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { minute } from "../terminal/minute.ts";
import { safeText } from "../terminal/safe-text.ts";
import { table } from "../terminal/table.ts";
import { withAdmin } from "../with-admin.ts";
import { describeTrigger } from "./automation-list.ts";
import { withData, withJson } from "./options.ts";

interface ShowOptions {
  data?: string;
  json?: boolean;
}

export function registerAutomationShow(automation: Command, cli: Cli): void {
  const command = automation
    .command("show")
    .description("show an automation and what came of its runs, newest first")
    .argument("<id>", "the automation's id");
  withJson(withData(command)).action((id: string, options: ShowOptions) => showAutomation(cli, id, options));
}

async function showAutomation(cli: Cli, id: string, options: ShowOptions): Promise<void> {
  const shown = await withAdmin(cli, options, (admin) => admin.automations.show(id));
  const { automation, runs, hook } = shown;
  const head = [
    `${safeText(automation.name)} (${automation.id})`,
    `${safeText(describeTrigger(automation))}${automation.pausedAt === null ? "" : ", paused"}`,
    ...(automation.problem === null ? [] : [safeText(automation.problem)]),
    safeText(automation.prompt),
  ];
  const rows = runs.map(({ createdAt, state, words }) => [minute(createdAt), state, words]);
  const history = rows.length === 0 ? "No runs yet." : table([["TIME", "STATE", "RESULT"], ...rows]);
  printResult(cli, options, shown, [...head, "", history].join("\n"));
  if (hook === null) return;
  say(cli, options, `To be heard at once, send the repository's push events as JSON to ${hook.url}`);
  say(cli, options, `Their secret: ${hook.secret}`);
}
