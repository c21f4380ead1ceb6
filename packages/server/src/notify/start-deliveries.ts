import { channels } from "../db/channels.ts";
import type { Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import type { Logger } from "../lib/logger.ts";
import { createWakeUp } from "../lib/wake-up.ts";
import { type ClaimedDelivery, claimDelivery, type DeliverDeps, deliver, settleDelivery } from "./deliveries.ts";

export interface DeliveriesDeps extends DeliverDeps {
  pool: Pool;
  listener: Listener;
  log: Logger;
}

export interface Deliveries {
  /** Takes no more messages and waits for those under way. */
  stop(): Promise<void>;
}

const answerMsMax = 20_000;
const claimMs = 120_000;
const lookEveryMs = 5_000;
const atOnceMax = 16;
/** So that a receiver that hangs does not hold up the others. */
const atOnceMaxOfOne = 4;

/** Sends what is due, on every node that runs it; NOTIFY is a hint, the table is the truth. */
export function startDeliveries(deps: DeliveriesDeps, options: { lookEveryMs?: number } = {}): Deliveries {
  const { pool, log } = deps;
  const wake = createWakeUp();
  const stopping = new AbortController();
  const underWay = new Map<string, { webhookId: string; done: Promise<void> }>();
  const unlisten = [
    deps.listener.on(channels.deliveryDue, () => wake.ring()),
    deps.listener.onReset(() => wake.ring()),
  ];
  const sending = sendWhileWanted();

  async function sendWhileWanted(): Promise<void> {
    while (!stopping.signal.aborted) {
      const delivery = await claim().catch((err) => {
        log.warn({ err }, "could not claim a delivery, retrying");
      });
      if (delivery) start(delivery);
      else await wake.wait(options.lookEveryMs ?? lookEveryMs);
    }
  }

  async function claim(): Promise<ClaimedDelivery | undefined> {
    if (underWay.size >= atOnceMax) return undefined;
    const webhookIds = [...underWay.values()].map(({ webhookId }) => webhookId);
    const busyWebhookIds = webhookIds.filter(
      (id) => webhookIds.filter((other) => other === id).length >= atOnceMaxOfOne,
    );
    return claimDelivery(pool, { claimMs, busyWebhookIds });
  }

  function start(delivery: ClaimedDelivery): void {
    const done = send(delivery)
      .catch((err) =>
        log.warn({ err, deliveryId: delivery.id, jobId: delivery.jobId }, "could not store a delivery's result"),
      )
      .finally(() => {
        underWay.delete(delivery.id);
        wake.ring();
      });
    underWay.set(delivery.id, { webhookId: delivery.webhookId, done });
  }

  async function send(delivery: ClaimedDelivery): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(answerMsMax)]);
    const outcome = await deliver(deps, delivery, signal);
    await settleDelivery(pool, delivery, outcome);
    const { id: deliveryId, webhookId, jobId, tries } = delivery;
    log.info({ deliveryId, webhookId, jobId, tries, outcome: outcome.kind }, "webhook tried");
  }

  return {
    async stop() {
      stopping.abort();
      for (const stop of unlisten) stop();
      wake.ring();
      await sending;
      await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };
}
