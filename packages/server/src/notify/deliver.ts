import type { ClaimedDelivery } from "./claim-delivery.ts";
import { formatMessage } from "./format-message.ts";
import type { ResolveAll } from "./guarded-lookup.ts";
import { postMessage } from "./post-message.ts";
import type { DeliveryOutcome } from "./settle-delivery.ts";
import { signatureHeaders } from "./sign-message.ts";
import { type SecretSealer, secretContext } from "./webhook.ts";
import { openUrl } from "./webhook-url.ts";

export interface DeliverDeps {
  sealer: SecretSealer;
  allowPrivate: boolean;
  resolve?: ResolveAll;
}

/** Sends a message once and says how it went. */
export async function deliver(
  deps: DeliverDeps,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const body = formatMessage(delivery.payload, delivery.format);
  const sentAtSeconds = Math.floor(Date.now() / 1000);
  try {
    const secret = deps.sealer.open(delivery.secret, secretContext(delivery.webhookId));
    const headers = {
      "content-type": "application/json",
      "user-agent": "Emend-Webhooks",
      ...signatureHeaders(secret, { id: delivery.id, body, sentAtSeconds }),
    };
    const url = openUrl(deps.sealer, delivery);
    const { status, retryAfter } = await postMessage(url, { headers, body }, { ...deps, signal });
    if (status >= 200 && status < 300) return { kind: "delivered", status };
    if (status === 410) return { kind: "gone", status };
    return {
      kind: "refused",
      status,
      retryAfterMs: /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) * 1000 : 0,
    };
  } catch (error) {
    return { kind: "unreached", error: error instanceof Error ? error.message : "unknown error" };
  }
}
