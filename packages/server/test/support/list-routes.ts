import { apiPrefix } from "../../src/dashboard/plugin.ts";
import type { DashboardApi } from "./dashboard.ts";

export interface DashboardRoute {
  method: string;
  /** Below the dashboard's prefix, with its parameters by name. */
  url: string;
}

/** Of the framework's own drawing of its tree, so that no route can be left out. */
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

/** One address of the route, of something that does not exist. */
export function pathOf({ url }: DashboardRoute): string {
  return url.replace(/:\w+(\|:\w+)*/g, "nothing");
}
