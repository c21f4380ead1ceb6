import { webhookFormats } from "@emend/contract";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { registerOperation } from "./operation-command.ts";

const theWebhook = ["id", "the webhook's id"] as const;
const theDelivery = ["id", "the delivery's id"] as const;

export function registerWebhook(webhook: Command, cli: Cli): void {
  registerOperation(webhook, cli, "webhooks.add", {
    word: "add",
    argument: ["url", "where to"],
    options: {
      format: new Option("--format <format>", "what is posted").choices(webhookFormats).default("standard"),
      events: new Option("--event <type...>", "only these, such as job.failed (default: all)"),
    },
    prints: ({ secret }) => secret,
    tells: ({ id, needsPrivate }) => [
      ...(needsPrivate ? [`The address is not an https one on the public internet: ${privateRule}.`] : []),
      `This is the only time that the secret is shown. To remove it: emend webhook remove ${id}`,
    ],
  });
  registerOperation(webhook, cli, "webhooks.list", {
    word: "list",
    json: ({ webhooks }) => webhooks,
    rows: ({ webhooks }) => [
      ["ID", "STATE", "FORMAT", "EVENTS", "URL"],
      ...webhooks.map(({ id, url, format, events, disabledAt, disabledReason }) => {
        const state = disabledAt === null ? "live" : `disabled: ${disabledReason ?? "by hand"}`;
        return [id, state, format, events.join(" "), url];
      }),
    ],
    tells: ({ webhooks }) => (webhooks.length === 0 ? ["There is no webhook yet: emend webhook add URL"] : []),
  });
  registerOperation(webhook, cli, "deliveries.list", {
    word: "deliveries",
    argument: theWebhook,
    json: ({ deliveries }) => deliveries,
    rows: ({ deliveries }) => [
      ["ID", "TIME", "EVENT", "STATE", "TRIES", "ANSWER", "JOB"],
      ...deliveries.map(({ id, createdAt, event, state, tries, lastStatus, lastError, jobId }) => {
        const time = createdAt.slice(0, 19).replace("T", " ");
        return [id, time, event, state, String(tries), lastError ?? String(lastStatus ?? ""), jobId ?? ""];
      }),
    ],
    tells: ({ deliveries }) => (deliveries.length === 0 ? ["No deliveries yet."] : []),
  });
  for (const [word, argument, text] of [
    ["remove", theWebhook, "Removed."],
    ["disable", theWebhook, "Disabled."],
    ["enable", theWebhook, "Enabled."],
    ["test", theWebhook, "A running server posts it within moments: emend webhook deliveries ID shows the answer."],
    ["redeliver", theDelivery, "It is posted again within moments of a worker being up."],
  ] as const) {
    registerOperation(webhook, cli, word === "redeliver" ? "deliveries.redeliver" : `webhooks.${word}`, {
      word,
      argument,
      json: (_answer, { id }) => ({ id, action: word }),
      tells: () => [text],
    });
  }
  registerOperation(webhook, cli, "webhooks.rotate", {
    word: "rotate",
    argument: theWebhook,
    json: (rotated, { id }) => ({ id, ...rotated }),
    prints: ({ secret }) => secret,
    tells: ({ oldUntil }) => [
      `Messages carry both signatures until ${oldUntil.slice(0, 16).replace("T", " ")} UTC. The new secret is shown only this time.`,
    ],
  });
}

const privateRule = "servers post there only while EMEND_ALLOW_PRIVATE_WEBHOOKS=true is set where they run";
