import type { JobEvent, JobEventData } from "@emend/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { jobQuery } from "../../api/queries.ts";
import { apiUrl } from "../../api/request.ts";

/**
 * Browsers only deliver events that are listened for by name: every kind of the contract, and whether it ends the job.
 */
const endsWith: Readonly<Record<keyof (typeof JobEventData)["properties"], boolean>> = {
  "job.created": false,
  "job.message": false,
  "job.interjection": false,
  "job.question": false,
  "job.waiting": false,
  "job.approved": false,
  "run.started": false,
  phase: false,
  step: false,
  findings: false,
  pull_request: false,
  completed: true,
  failed: true,
  archived: true,
};
const kinds = Object.keys(endsWith) as (keyof typeof endsWith)[];
const readAgainMs = 400;
const retryMs = { first: 1_000, max: 15_000 };

export interface JobEvents {
  events: readonly JobEvent[];
  /** The stream was interrupted and is reconnecting. */
  isLost: boolean;
}

/**
 * A job's events as they happen. A browser reconnects after a lost connection, but not after a refusal; both continue
 * after the last event seen. `restsSince` is when a finished job last changed (null while active): a follow-up or merge
 * changes it, and the events are fetched again. Another job needs another component.
 */
export function useJobEvents(id: string, restsSince: string | null): JobEvents {
  const queries = useQueryClient();
  const [events, setEvents] = useState<readonly JobEvent[]>([]);
  const [isLost, setIsLost] = useState(false);
  const lastSeq = useRef(0);

  useEffect(() => {
    let source: EventSource | undefined;
    let waiting: JobEvent[] = [];
    let frame = 0;
    let timer = 0;
    let waitMs = retryMs.first;
    let readAgain = 0;
    let hasEnded = false;

    // A long job's events arrive in bursts and are rendered together.
    function show() {
      frame = 0;
      const arrived = waiting;
      waiting = [];
      setEvents((before) => [...before, ...arrived]);
      // Values that grow with them, such as cost, are refetched once per burst.
      readAgain ||= window.setTimeout(() => {
        readAgain = 0;
        void queries.invalidateQueries({ queryKey: jobQuery(id).queryKey });
      }, readAgainMs);
    }
    function take(message: MessageEvent<string>) {
      const event = JSON.parse(message.data) as JobEvent;
      if (event.seq <= lastSeq.current) return;
      lastSeq.current = event.seq;
      hasEnded = endsWith[event.kind as keyof typeof endsWith] ?? false;
      waiting.push(event);
      frame ||= requestAnimationFrame(show);
    }
    function open() {
      source = new EventSource(apiUrl(`/jobs/${encodeURIComponent(id)}/events?after=${lastSeq.current}`));
      source.onopen = () => {
        waitMs = retryMs.first;
        setIsLost(false);
      };
      source.onerror = () => {
        // A finished job's stream ends after its last event, and is empty on reconnect. Every job has a first event: if
        // none came, the stream was refused.
        if (hasEnded || (restsSince !== null && lastSeq.current > 0)) return setIsLost(false);
        setIsLost(true);
        if (source?.readyState !== EventSource.CLOSED) return;
        timer = window.setTimeout(open, waitMs);
        waitMs = Math.min(waitMs * 2, retryMs.max);
        void queries.invalidateQueries({ queryKey: jobQuery(id).queryKey });
      };
      for (const kind of kinds) source.addEventListener(kind, take);
    }
    open();
    return () => {
      source?.close();
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      clearTimeout(readAgain);
      // Events that arrived but were not rendered are requested again.
      lastSeq.current = waiting[0] ? waiting[0].seq - 1 : lastSeq.current;
    };
  }, [id, restsSince, queries]);
  return { events, isLost };
}
