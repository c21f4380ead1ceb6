import type { Automation } from "@emend/server";
import type { Command } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { minute } from "../terminal/minute.ts";
import { withAdmin } from "../with-admin.ts";
import { describeTrigger } from "./automation-list.ts";
import { type TriggerOptions, triggerOf } from "./automation-trigger.ts";
import { withData, withJson } from "./options.ts";
import { readPrompt } from "./read-prompt.ts";

interface EditOptions extends TriggerOptions {
  name?: string;
  prompt?: string;
  model?: string | true;
  pause?: boolean;
  resume?: boolean;
  data?: string;
  json?: boolean;
}

export function registerAutomationEdit(automation: Command, cli: Cli): void {
  const command = automation
    .command("edit")
    .description("change an automation; what is not named stays, and its history with it")
    .argument("<id>", "the automation's id")
    .option("--name <name>", "what people call it")
    .option("--prompt <text>", "what its jobs must do, with {{variables}}; - reads it from standard input")
    .option("--cron <expression>", "run at these times, as in '0 9 * * 1'")
    .option("--timezone <zone>", "the zone of those times")
    .option("--push <repository>", "run after pushes to this context repository of the project")
    .option("--by-hand", "run by hand alone")
    .option("--branch [glob...]", "only pushes to these branches; without a word, the repository's own")
    .option("--tag [glob...]", "new tags of these names; without a word, none")
    .option("--include [glob...]", "only where a changed file matches; without a word, any")
    .option("--exclude [glob...]", "changed files that do not count; without a word, none")
    .option("--model [name]", "a model that the project allows; without a word, the project's")
    .option("--pause", "let it run by hand alone until it is resumed")
    .option("--resume", "let it run again, from now on");
  withJson(withData(command)).action((id: string, options: EditOptions) => editAutomation(cli, id, options));
}

async function editAutomation(cli: Cli, id: string, options: EditOptions): Promise<void> {
  const { data, json, pause, resume, ...words } = options;
  if (pause && resume) throw new CliError("usage", "give --pause or --resume, not both");
  if (Object.keys(words).length === 0 && !pause && !resume) {
    throw new CliError(
      "usage",
      "nothing is to be changed: name it, as in --prompt or --cron (`emend automation edit --help`)",
    );
  }
  const { name, model, prompt, ...trigger } = words;
  const text = prompt === undefined ? {} : { prompt: await readPrompt(cli, prompt) };
  const edited = await withAdmin(cli, options, async ({ automations }) => {
    const before = (await automations.show(id)).automation;
    const edit = {
      ...(name === undefined ? {} : { name }),
      ...text,
      ...(model === undefined ? {} : { model: model === true ? null : model }),
      ...(Object.keys(trigger).length === 0 ? {} : { trigger: triggerOf(trigger, before.trigger) }),
    };
    // Of one that begins again, the first time is reckoned by what it is now.
    const after = Object.keys(edit).length === 0 ? before : await automations.edit(id, edit);
    if (pause) return automations.pause(id);
    return resume ? automations.resume(id) : after;
  });
  printResult(cli, options, edited, edited.id);
  say(cli, options, `Changed. ${whenOf(edited)}`);
}

function whenOf(automation: Automation): string {
  const { trigger, pausedAt, dueAt } = automation;
  if (pausedAt !== null) return "It is paused: emend automation resume lets it run again.";
  if (trigger.kind === "cron" && dueAt !== null) return `It runs next at ${minute(dueAt)} UTC.`;
  return trigger.kind === "manual"
    ? "It runs only when you start it."
    : `It runs after a ${describeTrigger(automation)}.`;
}
