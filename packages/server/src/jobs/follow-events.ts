import type { JobEvent } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";
import type { JobReader } from "./job-reader.ts";
import { readEventPage } from "./read-event-page.ts";

/**
 * The events of a job after `afterSeq`, page by page, each as soon as it is stored, until the job is final. An empty page
 * says that nothing happened for `idleMs`. Reads no further than it is asked to, so a slow reader holds one page.
 */
export async function* followEvents(
  deps: { db: Queryable; reader: JobReader },
  jobId: string,
  options: { afterSeq: number; idleMs: number; signal: AbortSignal },
): AsyncGenerator<readonly JobEvent[], void, void> {
  let { afterSeq } = options;
  while (!options.signal.aborted) {
    // Listens from before the reading on: an event in between must not be slept through.
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
