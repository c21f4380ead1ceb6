import type { Queryable } from "../../db/pool.ts";

export interface JobEvent {
  seq: number;
  kind: string;
  data: unknown;
  createdAt: Date;
}

const eventsMax = 1000;

/** The events of a job after `afterSeq`, oldest first, at most a thousand. */
export async function listEvents(db: Queryable, jobId: string, afterSeq: number): Promise<readonly JobEvent[]> {
  const { rows } = await db.query<JobEvent>(
    `select seq, kind, data, created_at as "createdAt" from job_events
      where job_id = $1 and seq > $2 order by seq limit ${eventsMax}`,
    [jobId, afterSeq],
  );
  return rows;
}
