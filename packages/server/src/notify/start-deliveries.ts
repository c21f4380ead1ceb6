import type { Logger } from "@emend/base/logger.ts";
import { channels, type Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import { type RunningQueue, startQueue } from "../db/work-queue.ts";
import {
  type ClaimedDelivery,
  claimDelivery,
  type DeliverDeps,
  deliver,
  recordDeliveryOutcome,
  releaseDelivery,
} from "./deliveries.ts";

export interface DeliveriesDeps extends DeliverDeps {
  pool: Pool;
  listener: Listener;
  log: Logger;
}

const answerMsMax = 20_000;
const claimMs = 120_000;
/** A receiver that hangs must not delay the others. */
const atOnceMaxOfOne = 4;

/** Sends due deliveries. */
export function startDeliveries(deps: DeliveriesDeps, options: { pollEveryMs?: number } = {}): RunningQueue {
  const { pool, log } = deps;
  return startQueue<ClaimedDelivery>(deps, {
    name: "deliveries",
    channel: channels.deliveryDue,
    pollEveryMs: options.pollEveryMs ?? 5_000,
    atOnceMax: 16,
    claim(underWay) {
      const webhookIds = underWay.map(({ webhookId }) => webhookId);
      const busyWebhookIds = webhookIds.filter(
        (id) => webhookIds.filter((other) => other === id).length >= atOnceMaxOfOne,
      );
      return claimDelivery(pool, { claimMs, busyWebhookIds });
    },
    async work(delivery, stopping) {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(answerMsMax)]);
      const outcome = await deliver(deps, delivery, signal);
      if (stopping.aborted && outcome.kind === "unreached") return releaseDelivery(pool, delivery);
      await recordDeliveryOutcome(pool, delivery, outcome);
      const { id: deliveryId, webhookId, jobId, tries } = delivery;
      log.info({ deliveryId, webhookId, jobId, tries, outcome: outcome.kind }, "webhook tried");
    },
  });
}
