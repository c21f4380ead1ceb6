import { resolveTarget } from "../links/resolve.ts";
import { routeKey } from "../links/route.ts";
import type { SiteIndex } from "../links/site-index.ts";
import { quoted, type SiteCheck } from "./check.ts";

const hopsMax = 20;

/** What is wrong with a redirect, or null. */
function problem(index: SiteIndex, from: string, to: string): string | null {
  const start = routeKey(from);
  const seen = new Set([start]);
  let target = to;
  for (let hops = 0; hops < hopsMax; hops++) {
    // Parts that the request fills in cannot be followed.
    if (/[:*$]/.test(target)) return null;
    const absolute = target.startsWith("/") ? target : `/${target}`;
    // A redirect may name a page by its file, where a link may not.
    if (index.routes.has(routeKey(absolute.split(/[?#]/)[0] ?? ""))) return null;
    const found = resolveTarget(index, "", absolute, "link");
    if (found.kind === "missing") return `leads to ${quoted(target)}, which does not exist; point it at a page`;
    if (found.kind !== "redirect") return null;
    const key = routeKey((target.split(/[?#]/)[0] ?? "").replace(/^\//, ""));
    if (seen.has(key)) return `comes back to ${quoted(target)} for ever; break the loop`;
    seen.add(key);
    target = found.to;
  }
  return "passes through more than twenty others; point it at the last page";
}

export const brokenRedirect: SiteCheck = {
  id: "broken-redirect",
  severity: "error",
  *run(index) {
    for (const { from, to, file, line, column } of index.model.redirects) {
      const wrong = /^[a-z]+:/i.test(to) ? null : problem(index, from, to);
      if (wrong !== null) yield { path: file, line, column, message: `The redirect from ${quoted(from)} ${wrong}.` };
    }
  },
};
