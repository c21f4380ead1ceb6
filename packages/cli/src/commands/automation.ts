import type { Automation } from "@emend/server";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../cli.ts";
import { minute, safeText, table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

interface ListOptions extends AdminOptions {
  project?: string;
}

export function registerAutomationList(automation: Command, cli: Cli): void {
  const command = automation
    .command("list")
    .description("list the automations")
    .option("--project <project>", "of this project alone: its id or name");
  withJson(withData(command)).action((options: ListOptions) => listAutomations(cli, options));
}

async function listAutomations(cli: Cli, options: ListOptions): Promise<void> {
  const found = await withAdmin(cli, options, async (admin) =>
    admin.automations.list(options.project === undefined ? null : await admin.projectId(options.project)),
  );
  if (found.length === 0) say(cli, options, "No automations yet. Add one: emend automation add PROJECT NAME PROMPT");
  if (found.length === 0 && !options.json) return;
  const rows = found.map((each) => [each.id, each.name, describeTrigger(each), stateOf(each), each.projectId]);
  printResult(cli, options, found, table([["ID", "NAME", "TRIGGER", "STATE", "PROJECT"], ...rows]));
}

export function describeTrigger({ trigger }: Automation): string {
  if (trigger.kind === "manual") return "by hand";
  if (trigger.kind === "webhook") return "webhook";
  if (trigger.kind === "cron") return `${trigger.expression} (${trigger.timezone})`;
  const where = trigger.repository === "." ? "the docs repository" : trigger.repository;
  if (trigger.kind === "pull_request") {
    const into = trigger.branches.length > 0 ? ` into ${trigger.branches.join(", ")}` : "";
    return `pull request ${trigger.on.join(" or ")} in ${where}${into}`;
  }
  const refs = [...trigger.branches, ...trigger.tags.map((tag) => `tag ${tag}`)];
  return `push to ${where}${refs.length > 0 ? `: ${refs.join(", ")}` : ""}`;
}

function stateOf({ trigger, pausedAt, dueAt, problem }: Automation): string {
  if (pausedAt !== null) return "paused";
  if (problem !== null) return "its repository is gone";
  return trigger.kind === "cron" && dueAt !== null ? `next ${minute(dueAt)}` : "live";
}

export function registerAutomationShow(automation: Command, cli: Cli): void {
  const command = automation
    .command("show")
    .description("show an automation and its runs, newest first")
    .argument("<id>", "the automation's id");
  withJson(withData(command)).action((id: string, options: AdminOptions) => showAutomation(cli, id, options));
}

async function showAutomation(cli: Cli, id: string, options: AdminOptions): Promise<void> {
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
  if (automation.trigger.kind === "webhook") return sayWebhook(cli, options, hook);
  say(cli, options, `To be heard at once, send the repository's push events as JSON to ${hook.url}`);
  say(cli, options, `Their secret: ${hook.secret}`);
}

/** Where a service sends the webhooks that start an automation. */
export function sayWebhook(cli: Cli, options: AdminOptions, { url, secret }: { url: string; secret: string }): void {
  say(cli, options, `Send signed JSON to ${url}`);
  say(cli, options, `Its secret: ${secret}`);
}

export function registerAutomationRun(automation: Command, cli: Cli): void {
  const command = automation
    .command("run")
    .description("run an automation now and print its job's id, where there is one")
    .argument("<id>", "the automation's id");
  withJson(withData(command)).action((id: string, options: AdminOptions) => runAutomation(cli, id, options));
}

async function runAutomation(cli: Cli, id: string, options: AdminOptions): Promise<void> {
  const run = await withAdmin(cli, options, (admin) => admin.automations.run(id));
  if (options.json || run.jobId !== null) printResult(cli, options, run, run.jobId ?? "");
  say(cli, options, run.words);
}

const actions = {
  pause: { description: "let an automation run by hand alone", words: "Paused." },
  resume: { description: "let a paused automation run again, from now on", words: "Resumed." },
  remove: { description: "remove an automation and its history; its jobs stay", words: "Removed." },
} as const;

export function registerAutomationState(automation: Command, cli: Cli): void {
  for (const [name, { description, words }] of Object.entries(actions)) {
    const command = automation.command(name).description(description).argument("<id>", "the automation's id");
    withJson(withData(command)).action(async (id: string, options: AdminOptions) => {
      await withAdmin(cli, options, async ({ automations }): Promise<unknown> => {
        return automations[name as keyof typeof actions](id);
      });
      if (options.json) cli.stdout.write(`${JSON.stringify({ id, action: name })}\n`);
      say(cli, options, words);
    });
  }
}
