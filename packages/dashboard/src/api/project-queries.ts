import type {
  DashboardAllowedConstructs,
  DashboardAutomation,
  DashboardAutomationRun,
  DashboardContextRepository,
  DashboardHealth,
  DashboardModels,
  DashboardUsage,
} from "@emend/contract";
import { queryOptions } from "@tanstack/react-query";
import { operationQuery } from "./operations.ts";
import { request } from "./request.ts";

export const webhooksQuery = (projectId: string) => operationQuery("webhooks.list", { projectId });

export function deliveriesQuery(id: string) {
  return queryOptions({
    ...operationQuery("deliveries.list", { id }),
    refetchInterval: (query) => (query.state.data?.deliveries.some(({ state }) => state === "pending") ? 2_000 : false),
  });
}

export function contextQuery(projectId: string) {
  return queryOptions({
    queryKey: ["context", projectId],
    queryFn: ({ signal }) =>
      request<{ repositories: readonly DashboardContextRepository[] }>(`/projects/${projectId}/context`, { signal }),
    select: (answer) => answer.repositories,
  });
}

export function allowedConstructsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["allowed-constructs", projectId],
    queryFn: ({ signal }) =>
      request<DashboardAllowedConstructs>(`/projects/${projectId}/allowed-constructs`, { signal }),
    select: (answer) => answer.allowed,
  });
}

export function modelsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["models", projectId],
    queryFn: ({ signal }) => request<DashboardModels>(`/projects/${projectId}/models`, { signal }),
  });
}

export function healthQuery(projectId: string) {
  return queryOptions({
    queryKey: ["health", projectId],
    queryFn: ({ signal }) => request<DashboardHealth>(`/projects/${projectId}/health`, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.isChecking ? 1_000 : false),
  });
}

export function usageQuery(days: number) {
  return queryOptions({
    queryKey: ["usage", days],
    queryFn: ({ signal }) => request<DashboardUsage>(`/usage?days=${days}`, { signal }),
  });
}

export function automationsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["automations", projectId],
    queryFn: ({ signal }) =>
      request<{
        automations: readonly DashboardAutomation[];
        presets: readonly { name: string; title: string; description: string; problem: string | null }[];
      }>(`/projects/${projectId}/automations`, { signal }),
  });
}

export function automationRunsQuery(id: string) {
  return queryOptions({
    queryKey: ["automation-runs", id],
    queryFn: ({ signal }) => request<{ runs: readonly DashboardAutomationRun[] }>(`/automations/${id}`, { signal }),
    select: (answer) => answer.runs,
    refetchInterval: (query) => (query.state.data?.runs.some(({ state }) => state === "waiting") ? 2_000 : false),
  });
}
