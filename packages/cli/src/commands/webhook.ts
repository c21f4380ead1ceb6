import type { Admin } from "@emend/server";
import { type Command, Option } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { projectIdOf, projectWords } from "./jobs-of.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

type NewWebhook = Parameters<Admin["addWebhook"]>[0];

interface AddOptions extends AdminOptions {
  project?: string;
  format: NonNullable<NewWebhook["format"]>;
  event?: NonNullable<NewWebhook["events"]>;
}

export function registerWebhookAdd(webhook: Command, cli: Cli): void {
  const command = webhook
    .command("add")
    .description("post a project's events to an address, and print the secret that signs them, this once")
    .argument("<url>", "where to")
    .option("--project <project>", projectWords)
    .addOption(new Option("--format <format>", "what is posted").choices(["standard", "slack"]).default("standard"))
    .option("--event <type...>", "only these, such as job.failed (default: all)");
  withJson(withData(command)).action((url: string, options: AddOptions) => addWebhook(cli, url, options));
}

async function addWebhook(cli: Cli, url: string, options: AddOptions): Promise<void> {
  const { project, format, event } = options;
  const input = { url, format, ...(event === undefined ? {} : { events: event }) };
  const added = await withAdmin(cli, options, async (admin) =>
    admin.addWebhook({ ...input, projectId: await projectIdOf(cli, admin, project) }),
  );
  printResult(cli, options, added, added.secret);
  if (added.needsPrivate) {
    const rule = "servers post there only while EMEND_ALLOW_PRIVATE_WEBHOOKS=true is set where they run";
    say(cli, options, `The address is not an https one on the public internet: ${rule}.`);
  }
  say(cli, options, `This is the only time that the secret is shown. To remove it: emend webhook remove ${added.id}`);
}

interface ListOptions extends AdminOptions {
  project?: string;
}

export function registerWebhookList(webhook: Command, cli: Cli): void {
  const command = webhook
    .command("list")
    .description("list a project's webhooks, without their secrets")
    .option("--project <project>", projectWords);
  withJson(withData(command)).action((options: ListOptions) => listWebhooks(cli, options));
}

async function listWebhooks(cli: Cli, options: ListOptions): Promise<void> {
  const found = await withAdmin(cli, options, async (admin) =>
    admin.listWebhooks(await projectIdOf(cli, admin, options.project)),
  );
  if (found.length === 0) say(cli, options, "There is no webhook yet: emend webhook add URL");
  if (found.length === 0 && !options.json) return;
  const rows = found.map(({ id, url, format, events, disabledAt, disabledReason }) => [
    id,
    disabledAt === null ? "live" : `disabled: ${disabledReason ?? "by hand"}`,
    format,
    events.join(" "),
    url,
  ]);
  printResult(cli, options, found, table([["ID", "STATE", "FORMAT", "EVENTS", "URL"], ...rows]));
}

interface Action {
  description: string;
  /** What the id refers to. */
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
  test: {
    description: "post a test message to a webhook",
    of: "webhook",
    words: "A running server posts it within moments: emend webhook deliveries ID shows the answer.",
    act: (admin, id) => admin.testWebhook(id),
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
    withJson(withData(command)).action(async (id: string, options: AdminOptions) => {
      const isDone = await withAdmin(cli, options, (admin) => act(admin, id));
      if (!isDone) throw new CliError("refused", `there is no ${of} with the id ${id}`);
      if (options.json) cli.stdout.write(`${JSON.stringify({ id, action: name })}\n`);
      say(cli, options, words);
    });
  }
}

export function registerWebhookRotate(webhook: Command, cli: Cli): void {
  const command = webhook
    .command("rotate")
    .description("print a new secret for a webhook; the old one stays valid for a day")
    .argument("<id>", "the webhook's id");
  withJson(withData(command)).action(async (id: string, options: AdminOptions) => {
    const rotated = await withAdmin(cli, options, (admin) => admin.rotateWebhookSecret(id));
    if (!rotated) throw new CliError("refused", `there is no webhook with the id ${id}`);
    printResult(cli, options, { id, ...rotated }, rotated.secret);
    const until = rotated.oldUntil.toISOString().slice(0, 16).replace("T", " ");
    say(cli, options, `Messages carry both signatures until ${until} UTC. The new secret is shown only this time.`);
  });
}

export function registerWebhookDeliveries(webhook: Command, cli: Cli): void {
  const command = webhook
    .command("deliveries")
    .description("list what was posted to a webhook, newest first, and how it went")
    .argument("<id>", "the webhook's id");
  withJson(withData(command)).action((id: string, options: AdminOptions) => listDeliveries(cli, id, options));
}

async function listDeliveries(cli: Cli, id: string, options: AdminOptions): Promise<void> {
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
    jobId ?? "",
  ]);
  printResult(cli, options, found, table([["ID", "TIME", "EVENT", "STATE", "TRIES", "ANSWER", "JOB"], ...rows]));
}
