import type { JobEvent } from "@emend/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { jobQuery } from "../../api/queries.ts";
import { apiUrl } from "../../api/request.ts";

const kinds = [
  "job.created",
  "run.started",
  "phase",
  "step",
  "findings",
  "pull_request",
  "completed",
  "failed",
  "archived",
] as const;

/**
 * A job's events as they happen. The browser connects again by itself and says which it has seen; each that arrives
 * makes the job be read anew.
 */
export function useJobEvents(id: string): readonly JobEvent[] {
  const queries = useQueryClient();
  const [events, setEvents] = useState<readonly JobEvent[]>([]);

  useEffect(() => {
    setEvents([]);
    const source = new EventSource(apiUrl(`/jobs/${encodeURIComponent(id)}/events`));
    let waiting: JobEvent[] = [];
    let frame = 0;
    // A long job's past comes as hundreds at once: they are shown together.
    function show() {
      frame = 0;
      const arrived = waiting;
      waiting = [];
      setEvents((seen) => [...seen, ...arrived.filter(({ seq }) => seq > (seen.at(-1)?.seq ?? 0))]);
      void queries.invalidateQueries({ queryKey: jobQuery(id).queryKey });
      void queries.invalidateQueries({ queryKey: ["jobs"] });
    }
    function take(message: MessageEvent<string>) {
      waiting.push(JSON.parse(message.data) as JobEvent);
      frame ||= requestAnimationFrame(show);
    }
    for (const kind of kinds) source.addEventListener(kind, take);
    return () => {
      source.close();
      cancelAnimationFrame(frame);
    };
  }, [id, queries]);
  return events;
}
