import type { DashboardPull, DashboardPullRow } from "@emend/contract";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/request.ts";

const everyMs = 10_000;

export function pullsQuery(project: string | undefined) {
  return queryOptions({
    queryKey: ["pulls", project ?? ""],
    queryFn: ({ signal }) =>
      request<{ pulls: readonly DashboardPullRow[] }>(`/pulls?${new URLSearchParams({ project: project ?? "" })}`, {
        signal,
      }),
    select: (answer) => answer.pulls,
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
