import { eventDataBytesMax, type JobEvent } from "@emend/contract";
import type { Queryable } from "../../db/pool.ts";
import { type RecordedPullRequest, toPullRequest } from "../pull-requests.ts";
import type { JobReader } from "./job-reader.ts";

interface EventPage {
  events: readonly JobEvent[];
  /** The job has ended and this page has its last event. */
  isLast: boolean;
}

const pageEventsMax = 100;
/** The longest field that is kept of data that is too large. */
const fieldBytesMax = 4096;

interface Row {
  kind: JobEvent["kind"];
  at: string;
  data: unknown;
  is_final: boolean;
  event_seq: number;
  seq: number | null;
}

/**
 * The next events after `afterSeq`, with the job's state in the same snapshot: a later read may say "ended" with more
 * events in between. Data is truncated here, so that a page fits in memory.
 */
export async function readEventPage(db: Queryable, jobId: string, afterSeq: number): Promise<EventPage> {
  const { rows } = await db.query<Row>({
    name: "read-event-page",
    text: `select status <> 'active' as is_final, event_seq, event.* from jobs
      left join lateral (
        select seq, kind, wire_time(created_at) as at,
          case when octet_length(data::text) <= ${eventDataBytesMax} then data else
            case kind when 'step' then '{"text": "", "tools": []}'::jsonb else '{}' end || (
              select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(data)
              where octet_length(value::text) <= ${fieldBytesMax}) || '{"truncated": true}' end as data
        from job_events where job_id = jobs.id and seq > $2 order by seq limit ${pageEventsMax}
      ) event on true
      where id = $1 order by seq`,
    values: [jobId, afterSeq],
  });
  const events = rows.flatMap(({ seq, kind, at, data }) =>
    seq === null ? [] : [{ seq, kind, at, data: shownOf(kind, data) } as JobEvent],
  );
  const first = rows[0];
  const lastSeq = events.at(-1)?.seq ?? afterSeq;
  return { events, isLast: first === undefined || (first.is_final && lastSeq >= first.event_seq) };
}

/** Earlier releases stored a pull request's description with it. */
function shownOf(kind: string, data: unknown): unknown {
  const isWhole = kind === "pull_request" && (data as Partial<RecordedPullRequest>).url !== undefined;
  return isWhole ? toPullRequest(data as RecordedPullRequest) : data;
}

/**
 * A job's events after `afterSeq`, page by page, each as soon as it is stored, until the job ends. An empty page means
 * that nothing happened for `idleMs`. Reads only on demand, so a slow reader holds one page.
 */
export async function* followEvents(
  deps: { db: Queryable; reader: JobReader },
  jobId: string,
  options: { afterSeq: number; idleMs: number; signal: AbortSignal },
): AsyncGenerator<readonly JobEvent[], void, void> {
  let { afterSeq } = options;
  while (!options.signal.aborted) {
    // Listens before it reads, so that no event in between is missed.
    const notices = deps.reader.listenFor(jobId);
    try {
      const page = await readEventPage(deps.db, jobId, afterSeq);
      afterSeq = page.events.at(-1)?.seq ?? afterSeq;
      if (page.events.length > 0) yield page.events;
      if (page.isLast) return;
      if (page.events.length > 0) continue;
      const idle = await notices.next(options.idleMs, options.signal);
      if (idle === "timeout") yield [];
    } finally {
      notices.stop();
    }
  }
}
