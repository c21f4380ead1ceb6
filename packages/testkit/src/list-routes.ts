import { apiPrefix } from "../../server/src/dashboard/plugin.ts";
import type { DashboardApi } from "./dashboard.ts";

export interface DashboardRoute {
  method: string;
  /** Relative to the dashboard's prefix, with named parameters. */
  url: string;
}

/** Parsed from the framework's own printed route tree, so that no route is missed. */
export function listRoutes(host: DashboardApi): DashboardRoute[] {
  const path: string[] = [];
  const found: DashboardRoute[] = [];
  for (const line of host.api.app.printRoutes({ commonPrefix: false, includeHooks: false }).split("\n")) {
    const match = /^([│ ]*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?/.exec(line);
    if (!match) continue;
    const depth = (match[1] ?? "").length / 4;
    path.length = depth;
    path[depth] = match[2] ?? "";
    const url = path.join("");
    for (const method of match[3]?.split(", ") ?? []) found.push({ method, url });
  }
  return found
    .filter(({ url, method }) => url.startsWith(`${apiPrefix}/`) && method !== "HEAD")
    .map(({ url, method }) => ({ method, url: url.slice(apiPrefix.length) }));
}

/** A URL of the route, for a resource that does not exist. */
export function pathOf({ url }: DashboardRoute): string {
  return url.replace(/:\w+(\|:\w+)*/g, "nothing");
}
