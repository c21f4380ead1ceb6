import { type Static, Type } from "typebox";
import { Done, Id, operation, Time } from "./operation.ts";
import { webhookEvents } from "./webhook-message.ts";

export const webhookFormats = ["standard", "slack"] as const;

const Format = Type.Enum(webhookFormats, {
  type: "string",
  description: "A signed message (Standard Webhooks), or one for a channel of Slack.",
});

/** What of a webhook may be shown: often the rest of its URL is a secret. */
const Webhook = Type.Object({
  id: Id,
  projectId: Id,
  url: Type.String({ description: "Its origin and its end. The whole is not shown again." }),
  format: Format,
  events: Type.Array(Type.Enum(webhookEvents, { type: "string" })),
  disabledAt: Type.Union([Time, Type.Null()]),
  disabledReason: Type.Union([Type.String(), Type.Null()]),
  createdAt: Time,
});
export type Webhook = Static<typeof Webhook>;

/** One message to one webhook, and how it went. */
const Delivery = Type.Object({
  id: Id,
  webhookId: Id,
  jobId: Type.Union([Id, Type.Null()]),
  event: Type.String(),
  payload: Type.Object({}, { additionalProperties: true, description: "The message, as it is sent." }),
  state: Type.Enum(["pending", "delivered", "failed"] as const, { type: "string" }),
  tries: Type.Integer(),
  lastStatus: Type.Union([Type.Integer(), Type.Null()]),
  lastError: Type.Union([Type.String(), Type.Null()]),
  dueAt: Time,
  lastTryAt: Type.Union([Time, Type.Null()]),
  createdAt: Time,
});
export type Delivery = Static<typeof Delivery>;

const tag = "Webhooks";
const ofOne = { id: Id };

export const webhookOperations = {
  "webhooks.list": operation({
    method: "GET",
    path: "/projects/:projectId/webhooks",
    access: "viewer",
    tag,
    summary: "List a project's webhooks, without their secrets",
    input: { projectId: Id },
    output: Type.Object({ webhooks: Type.Array(Webhook) }),
  }),
  "webhooks.add": operation({
    method: "POST",
    path: "/projects/:projectId/webhooks",
    access: "maintainer",
    tag,
    summary: "Post a project's events to an address, and print the secret that signs them, this once",
    input: {
      projectId: Id,
      url: Type.String({ minLength: 1, maxLength: 2000 }),
      format: Type.Optional(Format),
      events: Type.Optional(
        Type.Array(Type.Enum(webhookEvents, { type: "string" }), {
          minItems: 1,
          maxItems: webhookEvents.length,
          description: "Only these (default: all).",
        }),
      ),
    },
    output: Type.Object({
      id: Id,
      secret: Type.String({ description: "It is not shown again." }),
      needsPrivate: Type.Boolean({
        description: "Servers post there only while `EMEND_ALLOW_PRIVATE_WEBHOOKS` is set.",
      }),
    }),
  }),
  "webhooks.enable": operation({
    method: "POST",
    path: "/webhooks/:id/enable",
    access: "maintainer",
    tag,
    summary: "Post to a webhook again, from now on",
    input: ofOne,
    output: Done,
  }),
  "webhooks.disable": operation({
    method: "POST",
    path: "/webhooks/:id/disable",
    access: "maintainer",
    tag,
    summary: "Post nothing more to a webhook",
    input: ofOne,
    output: Done,
  }),
  "webhooks.test": operation({
    method: "POST",
    path: "/webhooks/:id/test",
    access: "maintainer",
    tag,
    summary: "Post a test message to a webhook",
    input: ofOne,
    output: Done,
  }),
  "webhooks.rotate": operation({
    method: "POST",
    path: "/webhooks/:id/rotate",
    access: "maintainer",
    tag,
    summary: "Print a new secret for a webhook; the old one stays valid for a day",
    input: ofOne,
    output: Type.Object({ secret: Type.String({ description: "It is not shown again." }), oldUntil: Time }),
  }),
  "webhooks.remove": operation({
    method: "DELETE",
    path: "/webhooks/:id",
    access: "maintainer",
    tag,
    summary: "Remove a webhook and its log",
    input: ofOne,
    output: Done,
  }),
  "deliveries.list": operation({
    method: "GET",
    path: "/webhooks/:id/deliveries",
    access: "viewer",
    tag,
    summary: "List what was posted to a webhook, newest first, and how it went",
    input: ofOne,
    output: Type.Object({ deliveries: Type.Array(Delivery) }),
  }),
  "deliveries.redeliver": operation({
    method: "POST",
    path: "/deliveries/:id/redeliver",
    access: "maintainer",
    tag,
    summary: "Post a message again, under the same id",
    input: ofOne,
    output: Done,
  }),
};
