import type { DashboardDelivery, DashboardWebhook } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { asActor } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { type Delivery, listDeliveries, redeliver } from "../../notify/deliveries.ts";
import {
  listWebhooks,
  removeWebhook,
  setWebhookEnabled,
  testWebhook,
  type Webhook,
  webhookEvents,
  webhookFormats,
} from "../../notify/webhooks.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf } from "../require-session.ts";

type Identified = { Params: { id: string } };
const deliveriesMax = 50;
const parseNew = bodyParser(
  Type.Object({
    url: Type.String({ minLength: 1, maxLength: 2000 }),
    format: Type.Enum(webhookFormats),
    events: Type.Array(Type.Enum(webhookEvents), { minItems: 1, maxItems: webhookEvents.length }),
  }),
);
const parseEnabled = bodyParser(Type.Object({ isEnabled: Type.Boolean() }));

export function projectWebhookRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get<Identified>("/projects/:id/webhooks", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    return { webhooks: (await listWebhooks(deps.pool, id)).map(show) };
  });

  app.post<Identified>("/projects/:id/webhooks", async (request, reply) => {
    const { id } = await findProject(deps.pool, request.params.id);
    const input = { ...parseNew(request.body), projectId: id };
    return reply.code(201).send(await deps.projectAdmin.addWebhook(input, actorOf(request)));
  });

  app.patch<Identified>("/webhooks/:id", async (request) => {
    const { isEnabled } = parseEnabled(request.body);
    return done(await setWebhookEnabled(asActor(deps.pool, actorOf(request)), idOf(request.params), isEnabled));
  });

  app.post<Identified>("/webhooks/:id/remove", async (request) =>
    done(await removeWebhook(asActor(deps.pool, actorOf(request)), idOf(request.params))),
  );

  app.post<Identified>("/webhooks/:id/test", async (request) =>
    done((await testWebhook(deps.pool, idOf(request.params))) !== null),
  );

  app.post<Identified>("/webhooks/:id/rotate", async (request) => {
    const rotated = await deps.projectAdmin.rotateWebhookSecret(idOf(request.params), actorOf(request));
    return rotated ?? done(false);
  });

  app.get<Identified>("/webhooks/:id/deliveries", async (request) => {
    const deliveries = await listDeliveries(deps.pool, idOf(request.params));
    return { deliveries: deliveries.slice(0, deliveriesMax).map(showDelivery) };
  });

  app.post<Identified>("/deliveries/:id/redeliver", async (request) =>
    done(await redeliver(deps.pool, idOf(request.params))),
  );
}

/** Ids have a safe form. The database refuses some other texts. */
function idOf({ id }: { id: string }): string {
  return /^[0-9A-Za-z_-]{1,64}$/.test(id) ? id : "";
}

function done(isKnown: boolean): object {
  if (isKnown) return {};
  throw new AppError("not_found", { publicMessage: "Webhook or delivery not found." });
}

function show({ createdAt, disabledAt, ...webhook }: Webhook): DashboardWebhook {
  return { ...webhook, createdAt: createdAt.toISOString(), disabledAt: disabledAt?.toISOString() ?? null };
}

function showDelivery(delivery: Delivery): DashboardDelivery {
  const { id, jobId, event, state, tries, lastStatus, lastError } = delivery;
  return {
    id,
    jobId,
    event,
    state,
    tries,
    lastStatus,
    lastError,
    dueAt: delivery.dueAt.toISOString(),
    lastTryAt: delivery.lastTryAt?.toISOString() ?? null,
    createdAt: delivery.createdAt.toISOString(),
  };
}
