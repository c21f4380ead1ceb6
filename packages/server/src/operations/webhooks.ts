import type { operations } from "@emend/contract";
import { AppError } from "../errors.ts";
import { listDeliveries, redeliver } from "../notify/deliveries.ts";
import { needsPrivate } from "../notify/ssrf-guard.ts";
import {
  addWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhookSecret,
  setWebhookEnabled,
  testWebhook,
} from "../notify/webhooks.ts";
import type { CallerContext, Handlers } from "./handler.ts";

export const webhookHandlers: Handlers<typeof operations> = {
  async "webhooks.list"(context, { projectId }) {
    await context.assertProject(projectId);
    return { webhooks: await listWebhooks(context.pool, projectId) };
  },
  async "webhooks.add"(context, input) {
    await context.assertProject(input.projectId);
    const added = await addWebhook({ ...context, allowPrivate: context.allowPrivateWebhooks }, input);
    return { ...added, needsPrivate: needsPrivate(input.url) };
  },
  "webhooks.enable": (context, { id }) => onOne(context, id, () => setWebhookEnabled(context.db, id, true)),
  "webhooks.disable": (context, { id }) => onOne(context, id, () => setWebhookEnabled(context.db, id, false)),
  async "webhooks.test"(context, { id }) {
    const isSent = async () => (await testWebhook(context.db, id)) !== null;
    return onOne(context, id, isSent, "The webhook is disabled. Enable it first.");
  },
  async "webhooks.rotate"(context, { id }) {
    await assertWebhook(context, id);
    return (await rotateWebhookSecret(context, id)) ?? notFound("Webhook", id);
  },
  "webhooks.remove": (context, { id }) => onOne(context, id, () => removeWebhook(context.db, id)),
  async "deliveries.list"(context, { id }) {
    await assertWebhook(context, id);
    return { deliveries: await listDeliveries(context.pool, id) };
  },
  async "deliveries.redeliver"(context, { id }) {
    const { rows } = await context.pool.query<{ id: string }>("select webhook_id as id from deliveries where id = $1", [
      id,
    ]);
    await assertWebhook(context, rows[0]?.id ?? "", "Delivery", id);
    return (await redeliver(context.db, id)) ? {} : notFound("Delivery", id);
  },
};

/** One of a project that the caller may not know of is not there. */
async function assertWebhook({ pool, projectIds }: CallerContext, id: string, what = "Webhook", named = id) {
  const { rowCount } = await pool.query(
    "select from webhooks where id = $1 and ($2::text[] is null or project_id = any ($2))",
    [id, projectIds && [...projectIds]],
  );
  if (rowCount === 0) notFound(what, named);
}

async function onOne(
  context: CallerContext,
  id: string,
  act: () => Promise<boolean>,
  otherwise?: string,
): Promise<object> {
  await assertWebhook(context, id);
  if (await act()) return {};
  if (otherwise === undefined) notFound("Webhook", id);
  throw new AppError("conflict", { publicMessage: otherwise });
}

function notFound(what: string, id: string): never {
  throw new AppError("not_found", { publicMessage: `${what} not found: ${id}` });
}
