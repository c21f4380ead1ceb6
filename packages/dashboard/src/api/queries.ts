import type {
  DashboardBudget,
  DashboardInbox,
  DashboardJob,
  DashboardJobPage,
  DashboardKey,
  DashboardSession,
  JobDiff,
} from "@emend/contract";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { ApiError, request } from "./request.ts";

export interface JobSearch {
  project?: string;
  status?: string;
  search?: string;
}

const pollEveryMs = 5_000;

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => request<DashboardSession>("/session", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Budgets that are nearly or fully used, shown on every page. */
export const budgetsQuery = queryOptions({
  queryKey: ["budgets"],
  queryFn: ({ signal }) => request<{ budgets: readonly DashboardBudget[] }>("/budgets", { signal }),
  select: (answer) => answer.budgets,
  refetchInterval: 60_000,
});

/** What waits for the person, counted on every page. */
export const inboxQuery = queryOptions({
  queryKey: ["inbox"],
  queryFn: ({ signal }) => request<DashboardInbox>("/inbox", { signal }),
  refetchInterval: 60_000,
});

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: ({ signal }) => request<{ keys: readonly DashboardKey[] }>("/keys", { signal }),
  select: (answer) => answer.keys,
});

export function jobsQuery(filter: JobSearch) {
  return infiniteQueryOptions({
    queryKey: ["jobs", filter],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ ...filter, cursor: pageParam });
      return request<DashboardJobPage>(`/jobs?${query}`, { signal });
    },
    getNextPageParam: (page) => page.nextCursor,
    // Otherwise every page that was scrolled over would be refetched. The list updates its newest jobs itself.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Only the newest page. */
export function newestJobsQuery(filter: JobSearch) {
  return queryOptions({
    queryKey: ["jobs-head", filter],
    queryFn: ({ signal }) => request<DashboardJobPage>(`/jobs?${new URLSearchParams({ ...filter })}`, { signal }),
  });
}

export function jobQuery(id: string) {
  return queryOptions({
    queryKey: ["job", id],
    queryFn: ({ signal }) => request<DashboardJob>(`/jobs/${encodeURIComponent(id)}`, { signal }),
    // While the job is active, the event stream is faster. A finished job has none, and continues if somebody sends a
    // message: here, on the pull request, or through the API. Archived and missing jobs do not change.
    refetchInterval: ({ state: { data, error } }) => {
      const isOver = data?.run.status === "archived" || (error instanceof ApiError && error.status === 404);
      return isOver ? false : pollEveryMs;
    },
  });
}

/** `version` is when the job last changed: a finished job's diff is fetched once. */
export function diffQuery(id: string, version: string) {
  return queryOptions({
    queryKey: ["diff", id, version],
    queryFn: ({ signal }) => request<JobDiff>(`/jobs/${encodeURIComponent(id)}/diff`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
