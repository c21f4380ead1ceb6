import type {
  DashboardAppSetup,
  DashboardAuditPage,
  DashboardDirectory,
  DashboardFactors,
  DashboardLink,
  DashboardLogin,
  DashboardMembers,
  DashboardOwnSessions,
  DashboardSettings,
  DashboardStatus,
} from "@emend/contract";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request } from "./request.ts";

export interface AuditSearch {
  actor?: string;
  action?: string;
}

/** `problem` is single sign-on's encrypted error: the server decrypts it. */
export function loginQuery(problem: string) {
  return queryOptions({
    queryKey: ["login", problem],
    queryFn: ({ signal }) => request<DashboardLogin>(`/auth?${new URLSearchParams({ problem })}`, { signal }),
  });
}

export function linkQuery(token: string) {
  return queryOptions({
    queryKey: ["link", token],
    queryFn: ({ signal }) => request<DashboardLink>("/auth/link", { body: { token }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export const membersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => request<DashboardMembers>("/members", { signal }),
});

export const directoryQuery = queryOptions({
  queryKey: ["directory"],
  queryFn: ({ signal }) => request<DashboardDirectory>("/directory", { signal }),
});

export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: ({ signal }) => request<DashboardStatus>("/status", { signal }),
  refetchInterval: 15_000,
});

export const ownSessionsQuery = queryOptions({
  queryKey: ["own-sessions"],
  queryFn: ({ signal }) => request<DashboardOwnSessions>("/sessions", { signal }),
});

export const factorsQuery = queryOptions({
  queryKey: ["factors"],
  queryFn: ({ signal }) => request<DashboardFactors>("/factors", { signal }),
});

/** A key for an authenticator app. It stays the same while its form is open. `token`: of a login that waits for it. */
export function appSetupQuery(token: string | null) {
  const [path, body] =
    token === null ? ["/factors/authenticator-app/begin", {}] : ["/auth/set-up/authenticator-app/begin", { token }];
  return queryOptions({
    queryKey: ["app-setup", token],
    queryFn: ({ signal }) => request<DashboardAppSetup>(path, { body, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: ({ signal }) => request<DashboardSettings>("/settings", { signal }),
});

export function auditQuery(filter: AuditSearch) {
  return infiniteQueryOptions({
    queryKey: ["audit", filter],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      request<DashboardAuditPage>(`/audit?${new URLSearchParams({ ...filter, cursor: pageParam })}`, { signal }),
    getNextPageParam: (page) => page.nextCursor,
  });
}
