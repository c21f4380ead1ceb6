import { quoted, type SiteCheck } from "./check.ts";

/** Off unless it is set: versions and translations share their titles. */
export const duplicateTitle: SiteCheck = {
  id: "duplicate-title",
  severity: "warning",
  *run({ nodes, model }) {
    const seen = new Map<string, string>();
    for (const { path, title, isPartial } of nodes.values()) {
      if (isPartial || title === null) continue;
      const key = `${model.routeScope?.(path) ?? ""}\0${title.trim().toLowerCase()}`;
      const first = seen.get(key);
      if (first === undefined) seen.set(key, path);
      else {
        const message = `This page has the same title as ${quoted(first)} (${quoted(title)}); readers and search cannot tell them apart.`;
        yield { path, line: 1, column: 1, message };
      }
    }
  },
};
