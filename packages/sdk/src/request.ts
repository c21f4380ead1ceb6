import type { Connection } from "./connection.ts";
import { EmendError } from "./errors.ts";
import { type ApiRequest, type ApiResponse, exchange } from "./exchange.ts";
import { pause } from "./pause.ts";

const firstPauseMs = 250;
const pauseMsMax = 8000;

/**
 * Sends a request, and again while that can help. Reads, archive, cancel and retry (idempotent by contract) and creates, which
 * carry one idempotency key through all their tries, may be repeated whatever happened; others only after a refusal.
 */
export async function request(
  deps: Connection,
  what: ApiRequest,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await exchange(deps, what, signal);
    } catch (error) {
      if (!(error instanceof EmendError) || retries >= deps.retriesMax) throw error;
      if (what.isOnce && !isRefusal(error)) throw error;
      const waitMs = retryWaitMs(error, retries);
      if (waitMs === null || waitMs > deps.retryWaitMsMax) throw error;
      await pause(waitMs, signal);
    }
  }
}

/** An answer that says that nothing was done; without one, nobody knows. */
function isRefusal({ status }: EmendError): boolean {
  return status === 429 || status === 503;
}

/** How long to wait before the next try, or null where another try cannot help. */
export function retryWaitMs(error: EmendError, retries: number, random = Math.random()): number | null {
  switch (error.kind) {
    case "network":
    case "timeout":
    case "unavailable":
    case "rate_limited":
      break;
    case "conflict":
      // A job that is being published says when to ask again; any other conflict stays one.
      if (error.retryAfterMs === null) return null;
      break;
    default:
      return null;
  }
  // Full jitter, so that clients cut off together do not come back together; never before the time that was asked for.
  const jitterMs = random * Math.min(pauseMsMax, firstPauseMs * 2 ** retries);
  return (error.retryAfterMs ?? 0) + jitterMs;
}
