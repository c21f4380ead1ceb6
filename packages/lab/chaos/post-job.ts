import { setTimeout as pause } from "node:timers/promises";
import type { Pool } from "../../server/src/db/pool.ts";
import type { History } from "./judge.ts";

export interface Target {
  ports: readonly number[];
  projectId: string;
  key: string;
}

const triesMax = 400;

/**
 * Posts one job like a careful client: with an idempotency key, and with retries on the next node. Records responses
 * that a healthy node must never give. Null: the quota is used up, which `quota` expects.
 */
export async function postJob(
  target: () => Target,
  prompt: string,
  idempotencyKey: string,
  history: History,
  { pauseMs = 50, quota = false }: { pauseMs?: number; quota?: boolean } = {},
): Promise<string | null> {
  for (let n = 0; n < triesMax; n += 1) {
    const { ports, projectId, key } = target();
    const port = ports[n % ports.length] ?? 0;
    const answer = await fetch(`http://127.0.0.1:${port}/v2/agent/${projectId}/job`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": idempotencyKey,
      },
      body: JSON.stringify({ prompt }),
      signal: AbortSignal.timeout(20_000),
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => null);
    if (answer?.status === 201) {
      const { id: jobId }: { id: string } = JSON.parse(answer.text);
      history.add({ kind: "accepted", jobId, idempotencyKey });
      return jobId;
    }
    if (quota && answer?.status === 429) return null;
    // A node answers 503 while its database is unavailable.
    if (answer && answer.status !== 503)
      history.add({ kind: "unexpected", what: `a create got ${answer.status}: ${answer.text}` });
    await pause(pauseMs);
  }
  history.add({ kind: "unexpected", what: `a create was not accepted in ${triesMax} tries` });
  return null;
}

const msMax = 20 * 60_000;

/** Waits until no job is active (or as few as said), with retries while the database is unavailable. */
export async function untilAllEnded(pool: Pool, activeMax = 0): Promise<void> {
  const deadline = performance.now() + msMax;
  for (;;) {
    const active = await pool
      .query<{ count: number }>("select count(*)::int as count from jobs where status = 'active'")
      .then(({ rows }) => rows[0]?.count ?? 0)
      .catch(() => Number.POSITIVE_INFINITY);
    if (active <= activeMax) return;
    if (performance.now() > deadline)
      throw new Error(`${active} jobs are still active after ${msMax / 60_000} minutes`);
    await pause(100);
  }
}
