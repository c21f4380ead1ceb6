import { presetNames } from "@emend/contract";
import type { Automation, AutomationTrigger } from "@emend/server";
import type { Command } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { minute } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { describeTrigger, sayWebhook } from "./automation.ts";
import { readPrompt } from "./job-start.ts";
import { projectIdOf, splitWords, withProject } from "./jobs-of.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";
import { readSecret } from "./secrets.ts";

type Word = string | undefined;

interface AddOptions extends AdminOptions, TriggerOptions {
  preset?: string;
  repository?: string;
  model?: string;
}

export function registerAutomationAdd(automation: Command, cli: Cli): void {
  const described = automation
    .command("add")
    .description("add an automation and print its id; without a trigger it runs by hand alone");
  const command = withProject(described, [
    ["name", "what people call it"],
    ["prompt", "what its jobs must do, with {{variables}}; - reads it from standard input"],
  ])
    .option(
      "--preset <name>",
      `a ready-made automation without name and prompt: ${presetNames.slice(0, -1).join(", ")} or ${presetNames.at(-1)}`,
    )
    .option("--repository <name>", "the context repository that the preset watches (default: the only one)")
    .option("--cron <expression>", "run at these times, as in '0 9 * * 1'")
    .option("--timezone <zone>", "the zone of those times (default: UTC)")
    .option("--push <repository>", "run after pushes to this context repository; . is the docs' own repository")
    .option("--pull-request <repository>", "run for pull requests of this context repository; . is the docs' own")
    .option("--on <event...>", "of pull requests: opened, updated, merged (default: merged)")
    .option("--branch <glob...>", "only pushes to these branches (default: the repository's own)")
    .option("--tag <glob...>", "new tags of these names, and no branches unless --branch names some")
    .option("--include <glob...>", "only where a changed file matches")
    .option("--exclude <glob...>", "changed files that do not count")
    .option("--webhook", "run on signed webhooks of any service")
    .option(
      "--secret-env <variable>",
      "variable with the webhooks' secret, if their service chose it (default: Emend does)",
    )
    .option("--model <name>", "a model that the project allows (default: the project's)");
  withJson(withData(command)).action((first: Word, second: Word, third: Word, options: AddOptions) => {
    const { preset, repository } = options;
    if (preset !== undefined) return addPreset(cli, { project: first, name: second, preset, repository }, options);
    if (repository !== undefined) throw new CliError("usage", "--repository is for --preset");
    const { project, rest } = splitWords([first, second, third], ["name", "prompt"]);
    return addAutomation(cli, { project, name: rest[0] as string, prompt: rest[1] as string }, options);
  });
}

async function addPreset(
  cli: Cli,
  words: { project: Word; name: Word; preset: string; repository: Word },
  options: AddOptions,
): Promise<void> {
  const { preset, repository, name } = words;
  const added = await withAdmin(cli, options, async (admin) =>
    admin.automations.addPreset({
      projectId: await projectIdOf(cli, admin, words.project),
      preset,
      repository,
      createdBy: "console",
      ...(name === undefined ? {} : { name }),
      ...(options.model === undefined ? {} : { model: options.model }),
    }),
  );
  printResult(cli, options, added, added.id);
  say(cli, options, `Added "${added.name}". ${whenOf(added)}`);
}

async function addAutomation(
  cli: Cli,
  words: { project: Word; name: string; prompt: string },
  options: AddOptions,
): Promise<void> {
  const trigger = triggerOf(options);
  const input = {
    name: words.name,
    trigger,
    prompt: await readPrompt(cli, words.prompt),
    ...(options.model === undefined ? {} : { model: options.model }),
    createdBy: "console",
  };
  const secret = await secretOf(cli, options, trigger);
  const { added, hook } = await withAdmin(cli, options, async (admin) => {
    const added = await admin.automations.add({ ...input, projectId: await projectIdOf(cli, admin, words.project) });
    if (secret !== undefined) await admin.setWebhookSecret(added.id, secret);
    return { added, hook: (await admin.automations.show(added.id)).hook };
  });
  printResult(cli, options, added, added.id);
  if (trigger.kind === "webhook" && hook) {
    say(cli, options, "Added. It runs on each signed webhook.");
    sayWebhook(cli, options, hook);
  }
  if (trigger.kind === "manual") say(cli, options, `Added. To run it: emend automation run ${added.id}`);
  if (trigger.kind === "cron") say(cli, options, `Added. It runs next at ${new Date(added.dueAt ?? 0).toISOString()}`);
  if (trigger.kind === "push" || trigger.kind === "pull_request") {
    say(cli, options, `Added. It runs after the next ${describeTrigger(added)}`);
  }
}

interface EditOptions extends AdminOptions, TriggerOptions {
  name?: string;
  prompt?: string;
  model?: string | true;
  pause?: boolean;
  resume?: boolean;
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
    .option("--push <repository>", "run after pushes to this context repository; . is the docs' own repository")
    .option("--pull-request <repository>", "run for pull requests of this context repository; . is the docs' own")
    .option("--on <event...>", "of pull requests: opened, updated, merged (default: merged)")
    .option("--webhook", "run on signed webhooks of any service")
    .option("--secret-env [variable]", "variable with the webhooks' secret; without a word, the one that Emend chooses")
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
  const { data, json, pause, resume, secretEnv, ...words } = options;
  if (pause && resume) throw new CliError("usage", "give --pause or --resume, not both");
  if (Object.keys(words).length === 0 && !pause && !resume && secretEnv === undefined) {
    throw new CliError("usage", "no change given; name one, as in --prompt or --cron (`emend automation edit --help`)");
  }
  const { name, model, prompt, ...trigger } = words;
  const text = prompt === undefined ? {} : { prompt: await readPrompt(cli, prompt) };
  const edited = await withAdmin(cli, options, async (admin) => {
    const { automations } = admin;
    const before = (await automations.show(id)).automation;
    const edit = {
      ...(name === undefined ? {} : { name }),
      ...text,
      ...(model === undefined ? {} : { model: model === true ? null : model }),
      ...(Object.keys(trigger).length === 0 ? {} : { trigger: triggerOf(trigger, before.trigger) }),
    };
    const secret = await secretOf(cli, options, edit.trigger ?? before.trigger);
    // After an edit of the trigger, the next time is computed from now.
    const after = Object.keys(edit).length === 0 ? before : await automations.edit(id, edit);
    if (secret !== undefined) await admin.setWebhookSecret(id, secret);
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
  if (trigger.kind === "webhook") return "It runs on each signed webhook.";
  return trigger.kind === "manual"
    ? "It runs only when you start it."
    : `It runs after a ${describeTrigger(automation)}.`;
}

interface TriggerOptions {
  cron?: string;
  timezone?: string;
  push?: string;
  branch?: string[] | true;
  pullRequest?: string;
  on?: string[];
  tag?: string[] | true;
  include?: string[] | true;
  exclude?: string[] | true;
  byHand?: boolean;
  webhook?: boolean;
  secretEnv?: string | true;
}

/** The given secret of webhooks; null: the one that Emend chooses; undefined: it stays. */
async function secretOf(
  cli: Cli,
  { secretEnv }: TriggerOptions,
  trigger: AutomationTrigger,
): Promise<string | null | undefined> {
  if (secretEnv === undefined) return undefined;
  if (trigger.kind !== "webhook") throw new CliError("usage", "--secret-env is for --webhook");
  return secretEnv === true ? null : readSecret(cli, "the webhooks' secret", { env: secretEnv });
}

type Push = Extract<AutomationTrigger, { kind: "push" }>;
type PullRequest = Extract<AutomationTrigger, { kind: "pull_request" }>;

/** The trigger from the options. Omitted options keep their previous values. */
function triggerOf(options: TriggerOptions, before: AutomationTrigger = { kind: "manual" }): AutomationTrigger {
  const kind = kindOf(options) ?? before.kind;
  const lists = { branch: options.branch, tag: options.tag, include: options.include, exclude: options.exclude };
  if (kind !== "cron" && options.timezone !== undefined) throw new CliError("usage", "--timezone is for --cron");
  const isPull = kind === "pull_request";
  if (kind !== "push" && lists.tag !== undefined && isPull) throw new CliError("usage", "--tag is for --push");
  if (kind !== "push" && !isPull && Object.values(lists).some((list) => list !== undefined)) {
    throw new CliError("usage", "--branch, --tag, --include and --exclude are for --push");
  }
  if (!isPull && options.on !== undefined) throw new CliError("usage", "--on is for --pull-request");
  if (kind === "manual" || kind === "webhook") return { kind };
  if (kind === "cron") {
    const { expression, timezone } = before.kind === "cron" ? before : { expression: "", timezone: "UTC" };
    return { kind, expression: options.cron ?? expression, timezone: options.timezone ?? timezone };
  }
  if (kind === "pull_request") {
    const old: Partial<PullRequest> = before.kind === "pull_request" ? before : {};
    return {
      kind,
      repository: options.pullRequest ?? old.repository ?? "",
      on: (options.on as PullRequest["on"] | undefined) ?? old.on ?? ["merged"],
      branches: listOf(lists.branch, old.branches),
      include: listOf(lists.include, old.include),
      exclude: listOf(lists.exclude, old.exclude),
    };
  }
  const old: Partial<Push> = before.kind === "push" ? before : {};
  return {
    kind,
    repository: options.push ?? old.repository ?? "",
    branches: listOf(lists.branch, old.branches),
    tags: listOf(lists.tag, old.tags),
    include: listOf(lists.include, old.include),
    exclude: listOf(lists.exclude, old.exclude),
  };
}

function kindOf({ cron, push, pullRequest, byHand, webhook }: TriggerOptions): AutomationTrigger["kind"] | null {
  if ([cron, push, pullRequest, byHand, webhook].filter((one) => one !== undefined).length > 1) {
    throw new CliError("usage", "give one of --cron, --push, --pull-request, --webhook and --by-hand");
  }
  if (webhook) return "webhook";
  if (cron !== undefined) return "cron";
  if (push !== undefined) return "push";
  if (pullRequest !== undefined) return "pull_request";
  return byHand ? "manual" : null;
}

/** True: the option was given without a value, which empties the list. */
function listOf(given: string[] | true | undefined, before: string[] = []): string[] {
  return given === true ? [] : (given ?? before);
}
