import { quoted, type SiteCheck } from "./check.ts";

export const duplicateRoute: SiteCheck = {
  id: "duplicate-route",
  severity: "error",
  *run(index) {
    for (const { path, route, holder } of index.clashes) {
      const message = `This page and ${quoted(holder)} both have the route ${quoted(route)}; only one is served. Rename one.`;
      yield { path, line: 1, column: 1, message };
    }
  },
};
