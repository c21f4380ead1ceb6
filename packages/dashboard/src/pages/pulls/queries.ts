import type { DashboardPull, DashboardPullPage } from "@emend/contract";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request } from "../../api/request.ts";

export const everyMs = 10_000;

export interface PullSearch {
  project?: string;
  state?: string;
  forge?: string;
}

/** Each page that was opened is read again, so that states stay true. */
export function pullsQuery(filter: PullSearch) {
  return infiniteQueryOptions({
    queryKey: ["pulls", filter],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      request<DashboardPullPage>(`/pulls?${new URLSearchParams({ ...filter, cursor: pageParam })}`, { signal }),
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: everyMs,
  });
}

export interface PullName {
  projectId: string;
  number: string;
}

export function pullPath({ projectId, number }: PullName): string {
  return `/pulls/${encodeURIComponent(projectId)}/${encodeURIComponent(number)}`;
}

export function pullQuery(name: PullName) {
  return queryOptions({
    queryKey: ["pull", name.projectId, name.number],
    queryFn: ({ signal }) => request<DashboardPull>(pullPath(name), { signal }),
    refetchInterval: (query) => (query.state.data?.state === "open" ? everyMs : false),
  });
}
