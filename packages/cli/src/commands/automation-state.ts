import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface StateOptions {
  data?: string;
  json?: boolean;
}

const actions = {
  pause: { description: "let an automation run by hand alone", words: "Paused." },
  resume: { description: "let a paused automation run again, from now on", words: "Resumed." },
  remove: { description: "remove an automation and its history; its jobs stay", words: "Removed." },
} as const;

export function registerAutomationState(automation: Command, cli: Cli): void {
  for (const [name, { description, words }] of Object.entries(actions)) {
    const command = automation.command(name).description(description).argument("<id>", "the automation's id");
    withJson(withData(command)).action(async (id: string, options: StateOptions) => {
      await withAdmin(cli, options, async ({ automations }): Promise<unknown> => {
        return automations[name as keyof typeof actions](id);
      });
      if (options.json) cli.stdout.write(`${JSON.stringify({ id, action: name })}\n`);
      say(cli, options, words);
    });
  }
}
