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
const atOnceMax = 16;
/** Of a receiver that answers soon. One that hangs must not delay the others, so at first it gets one slot. */
const atOnceMaxOfOne = 4;
const soonMs = 2_000;
/** Of all that did not answer soon, however many. */
const atOnceMaxOfSlow = 8;
const knownMax = 10_000;

/** Sends due deliveries. */
export function startDeliveries(deps: DeliveriesDeps, options: { pollEveryMs?: number } = {}): RunningQueue {
  const { pool, log } = deps;
  const isSoon = new Map<string, boolean>();
  return startQueue<ClaimedDelivery>(deps, {
    name: "deliveries",
    channel: channels.deliveryDue,
    pollEveryMs: options.pollEveryMs ?? 5_000,
    atOnceMax,
    claim(underWay) {
      const busy = new Map<string, number>();
      for (const { webhookId } of underWay) busy.set(webhookId, (busy.get(webhookId) ?? 0) + 1);
      const full = [...busy].flatMap(([id, count]) => (count < (isSoon.get(id) ? atOnceMaxOfOne : 1) ? [] : [id]));
      const slow = [...isSoon].flatMap(([id, soon]) => (soon ? [] : [id]));
      const isFullOfSlow = slow.filter((id) => busy.has(id)).length >= atOnceMaxOfSlow;
      return claimDelivery(pool, { claimMs, busyWebhookIds: isFullOfSlow ? [...full, ...slow] : full });
    },
    async work(delivery, stopping) {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(answerMsMax)]);
      const startedAt = performance.now();
      const outcome = await deliver(deps, delivery, signal);
      isSoon.delete(delivery.webhookId);
      isSoon.set(delivery.webhookId, performance.now() - startedAt < soonMs);
      for (const id of isSoon.keys()) if (isSoon.size > knownMax) isSoon.delete(id);
      if (stopping.aborted && outcome.kind === "unreached") return releaseDelivery(pool, delivery);
      await recordDeliveryOutcome(pool, delivery, outcome);
      const { id: deliveryId, webhookId, jobId, tries } = delivery;
      log.info({ deliveryId, webhookId, jobId, tries, outcome: outcome.kind }, "webhook tried");
    },
  });
}
