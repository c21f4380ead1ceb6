import type { Admin } from "@emend/server";
import type { Command } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface StateOptions {
  data?: string;
  json?: boolean;
}

interface Action {
  description: string;
  /** What the id names. */
  of: "webhook" | "delivery";
  words: string;
  act(admin: Admin, id: string): Promise<boolean>;
}

const actions: Readonly<Record<string, Action>> = {
  remove: {
    description: "remove a webhook and its log",
    of: "webhook",
    words: "Removed.",
    act: (admin, id) => admin.removeWebhook(id),
  },
  disable: {
    description: "post nothing more to a webhook",
    of: "webhook",
    words: "Disabled.",
    act: (admin, id) => admin.setWebhookEnabled(id, false),
  },
  enable: {
    description: "post to a webhook again, from now on",
    of: "webhook",
    words: "Enabled.",
    act: (admin, id) => admin.setWebhookEnabled(id, true),
  },
  redeliver: {
    description: "post a message again, under the same id",
    of: "delivery",
    words: "It is posted again within moments of a worker being up.",
    act: (admin, id) => admin.redeliver(id),
  },
};

export function registerWebhookState(webhook: Command, cli: Cli): void {
  for (const [name, { description, of, words, act }] of Object.entries(actions)) {
    const command = webhook.command(name).description(description).argument("<id>", `the ${of}'s id`);
    withJson(withData(command)).action(async (id: string, options: StateOptions) => {
      const isDone = await withAdmin(cli, options, (admin) => act(admin, id));
      if (!isDone) throw new CliError("refused", `there is no ${of} with the id ${id}`);
      if (options.json) cli.stdout.write(`${JSON.stringify({ id, action: name })}\n`);
      say(cli, options, words);
    });
  }
}
