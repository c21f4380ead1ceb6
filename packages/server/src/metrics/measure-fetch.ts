import type { Fetch } from "../lib/network.ts";
import type { Metrics } from "./metrics.ts";

/** Hosts are those that the operator configured, so they are few. */
export function measureFetch(metrics: Metrics, fetch: Fetch): Fetch {
  return async (url, init) => {
    const host = URL.parse(url)?.host ?? "";
    const stopTimer = metrics.farRequestSeconds.startTimer({ host });
    try {
      const answer = await fetch(url, init);
      metrics.farRequests.inc({ host, status: answer.status });
      return answer;
    } catch (error) {
      metrics.farRequests.inc({ host, status: 0 });
      throw error;
    } finally {
      stopTimer();
    }
  };
}
