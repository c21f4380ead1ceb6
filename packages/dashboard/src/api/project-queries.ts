import type {
  DashboardAllowedConstructs,
  DashboardAutomation,
  DashboardAutomationRun,
  DashboardContextRepository,
  DashboardDelivery,
  DashboardHealth,
  DashboardModels,
  DashboardUsage,
  DashboardWebhook,
} from "@emend/contract";
import { queryOptions } from "@tanstack/react-query";
import { request } from "./request.ts";

export function webhooksQuery(projectId: string) {
  return queryOptions({
    queryKey: ["webhooks", projectId],
    queryFn: ({ signal }) =>
      request<{ webhooks: readonly DashboardWebhook[] }>(`/projects/${projectId}/webhooks`, { signal }),
    select: (answer) => answer.webhooks,
  });
}

export function deliveriesQuery(webhookId: string) {
  return queryOptions({
    queryKey: ["deliveries", webhookId],
    queryFn: ({ signal }) =>
      request<{ deliveries: readonly DashboardDelivery[] }>(`/webhooks/${webhookId}/deliveries`, { signal }),
    select: (answer) => answer.deliveries,
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
