import type { Queryable } from "../db/pool.ts";
import { addGauge, type Metrics } from "./metrics.ts";

interface QueueRow {
  waiting: number;
  running: number;
  oldest_seconds: number;
  deliveries: number;
}

/** What waits, of the whole installation: every process says the same, so take the maximum and not the sum. */
export function measureQueue(metrics: Metrics, db: Queryable): void {
  let reading: Promise<QueueRow> | undefined;
  // One query for all gauges of a scrape.
  const read = () => {
    reading ??= readQueue(db).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  addGauge(metrics, { name: "emend_queue_waiting", help: "Jobs that are due and not started" }, async (gauge) =>
    gauge.set((await read()).waiting),
  );
  addGauge(metrics, { name: "emend_queue_running", help: "Jobs that a worker holds" }, async (gauge) =>
    gauge.set((await read()).running),
  );
  addGauge(
    metrics,
    { name: "emend_queue_oldest_seconds", help: "How long the job that waits longest has been due" },
    async (gauge) => gauge.set((await read()).oldest_seconds),
  );
  addGauge(metrics, { name: "emend_deliveries_due", help: "Webhook messages that are due" }, async (gauge) =>
    gauge.set((await read()).deliveries),
  );
}

async function readQueue(db: Queryable): Promise<QueueRow> {
  const { rows } = await db.query<QueueRow>({
    name: "read-queue",
    text: `
      select count(*)::int as waiting,
        coalesce(extract(epoch from now() - min(run_after)), 0)::float8 as oldest_seconds,
        (select count(*)::int from jobs where lease is not null) as running,
        (select count(*)::int from deliveries where state = 'pending' and due_at <= now()) as deliveries
      from jobs where status = 'active' and lease is null and run_after <= now()`,
  });
  return rows[0] as QueueRow;
}
