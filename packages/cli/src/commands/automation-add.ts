import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { type TriggerOptions, triggerOf } from "./automation-trigger.ts";
import { withData, withJson } from "./options.ts";
import { readPrompt } from "./read-prompt.ts";

interface AddOptions extends TriggerOptions {
  model?: string;
  data?: string;
  json?: boolean;
}

export function registerAutomationAdd(automation: Command, cli: Cli): void {
  const command = automation
    .command("add")
    .description("add an automation and print its id; without --cron or --push it runs by hand alone")
    .argument("<project>", "the project's id")
    .argument("<name>", "what people call it")
    .argument("<prompt>", "what its jobs must do, with {{variables}}; - reads it from standard input")
    .option("--cron <expression>", "run at these times, as in '0 9 * * 1'")
    .option("--timezone <zone>", "the zone of those times (default: UTC)")
    .option("--push <repository>", "run after pushes to this context repository of the project")
    .option("--branch <glob...>", "only pushes to these branches (default: the repository's own)")
    .option("--tag <glob...>", "new tags of these names, and no branches unless --branch names some")
    .option("--include <glob...>", "only where a changed file matches")
    .option("--exclude <glob...>", "changed files that do not count")
    .option("--model <name>", "a model that the project allows (default: the project's)");
  withJson(withData(command)).action((project: string, name: string, prompt: string, options: AddOptions) =>
    addAutomation(cli, { project, name, prompt }, options),
  );
}

async function addAutomation(
  cli: Cli,
  words: { project: string; name: string; prompt: string },
  options: AddOptions,
): Promise<void> {
  const trigger = triggerOf(options);
  const input = {
    projectId: words.project,
    name: words.name,
    trigger,
    prompt: await readPrompt(cli, words.prompt),
    ...(options.model === undefined ? {} : { model: options.model }),
    createdBy: "console",
  };
  const added = await withAdmin(cli, options, (admin) => admin.automations.add(input));
  printResult(cli, options, added, added.id);
  if (trigger.kind === "manual") say(cli, options, `Added. To run it: emend automation run ${added.id}`);
  if (trigger.kind === "cron") say(cli, options, `Added. It runs next at ${new Date(added.dueAt ?? 0).toISOString()}`);
  if (trigger.kind === "push") say(cli, options, `Added. It runs after the next push to ${trigger.repository}`);
}
