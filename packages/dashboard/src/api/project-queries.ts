import type {
  DashboardContextRepository,
  DashboardDelivery,
  DashboardHealth,
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

export function modelKeysQuery(projectId: string) {
  return queryOptions({
    queryKey: ["model-keys", projectId],
    queryFn: ({ signal }) =>
      request<{ keys: readonly { vendor: string; isSet: boolean }[] }>(`/projects/${projectId}/model-keys`, { signal }),
    select: (answer) => answer.keys,
  });
}

export function healthQuery(projectId: string) {
  return queryOptions({
    queryKey: ["health", projectId],
    queryFn: ({ signal }) => request<DashboardHealth>(`/projects/${projectId}/health`, { signal }),
  });
}

export function usageQuery(days: number) {
  return queryOptions({
    queryKey: ["usage", days],
    queryFn: ({ signal }) => request<DashboardUsage>(`/usage?days=${days}`, { signal }),
  });
}
