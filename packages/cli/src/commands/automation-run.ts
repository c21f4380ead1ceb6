import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface RunOptions {
  data?: string;
  json?: boolean;
}

export function registerAutomationRun(automation: Command, cli: Cli): void {
  const command = automation
    .command("run")
    .description("run an automation now and print its job's id, where there is one")
    .argument("<id>", "the automation's id");
  withJson(withData(command)).action((id: string, options: RunOptions) => runAutomation(cli, id, options));
}

async function runAutomation(cli: Cli, id: string, options: RunOptions): Promise<void> {
  const run = await withAdmin(cli, options, (admin) => admin.automations.run(id));
  if (options.json || run.jobId !== null) printResult(cli, options, run, run.jobId ?? "");
  say(cli, options, run.words);
}
