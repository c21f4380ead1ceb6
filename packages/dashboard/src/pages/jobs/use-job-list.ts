import type { DashboardJobPage, DashboardJobRow } from "@emend/contract";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { type JobSearch, jobsQuery, newestJobsQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { mergeRows } from "./merge-rows.ts";

const busyEveryMs = 1_500;
const quietEveryMs = 10_000;
const watchedMax = 50;

/**
 * A listing that is true as long as it is looked at, however far it was scrolled: the newest page is asked for again and
 * again, and beyond it only those jobs that are still active.
 */
export function useJobList(filter: JobSearch) {
  const queries = useQueryClient();
  const list = useInfiniteQuery(jobsQuery(filter));
  const loaded = useMemo(() => list.data?.pages.flatMap((page) => page.jobs) ?? [], [list.data]);
  const isBusy = loaded.some(isActive);
  const head = useQuery({
    ...newestJobsQuery(filter),
    refetchInterval: isBusy ? busyEveryMs : quietEveryMs,
    enabled: list.data !== undefined,
  });
  const inHead = new Set(head.data?.jobs.map(({ id }) => id));
  const watchedIds = loaded
    .filter((job) => isActive(job) && !inHead.has(job.id))
    .slice(0, watchedMax)
    .map(({ id }) => id);
  const watched = useQuery({
    queryKey: ["jobs-watched", watchedIds],
    queryFn: ({ signal }) => request<DashboardJobPage>(`/jobs?ids=${watchedIds.join(",")}`, { signal }),
    refetchInterval: busyEveryMs,
    enabled: watchedIds.length > 0,
  });
  const merged = useMemo(
    () => mergeRows(loaded, { head: head.data ?? null, watched: watched.data?.jobs ?? [], status: filter.status }),
    [loaded, head.data, watched.data, filter.status],
  );

  useEffect(() => {
    // More came than one page tells: between it and what is shown jobs are missing.
    if (merged.kind !== "gap") return;
    void queries.resetQueries({ queryKey: jobsQuery(filter).queryKey });
    void queries.invalidateQueries({ queryKey: newestJobsQuery(filter).queryKey });
  }, [merged.kind, queries, filter]);

  return { rows: merged.kind === "rows" ? merged.rows : loaded, list };
}

function isActive(job: DashboardJobRow): boolean {
  return job.status === "active";
}
