import type { Redirect, RedirectPair } from "../frameworks/framework.ts";
import { routeKey } from "../links/route.ts";
import type { SiteIndex } from "../links/site-index.ts";
import type { Site } from "../site.ts";
import { type EditPlan, replaceRange } from "./edit-plan.ts";

function leadsTo(redirect: Redirect, route: string): boolean {
  return routeKey(redirect.to.split(/[?#]/)[0] ?? "") === routeKey(route);
}

/**
 * Redirects old routes to the new ones, shortens redirect chains, and removes the redirect that a move back makes
 * obsolete.
 */
export function moveRedirects(site: Site, after: SiteIndex, moves: ReadonlyMap<string, string>, plan: EditPlan): void {
  const { model } = site.index;
  const added: RedirectPair[] = [];
  const removed: Redirect[] = [];
  for (const [from, to] of moves) {
    const before = site.index.nodes.get(from);
    const now = after.nodes.get(to);
    if (before === undefined || now === undefined || before.isPartial || now.isPartial) continue;
    if (routeKey(before.route) === routeKey(now.route)) continue;
    // Each language has its own site, with the same redirects.
    if (model.sharesRedirects !== true && (model.routeScope?.(to) ?? "") !== "") continue;
    const doubt = model.undecided?.(to) ?? null;
    if (doubt !== null) plan.skip({ path: to, line: 1, reason: doubt });
    const source = model.redirectSource ?? model.redirectTarget;
    const oldTarget = model.redirectTarget(from, before.route);
    const newTarget = model.redirectTarget(to, now.route);
    const [oldSource, newSource] = [source(from, before.route), source(to, now.route)];
    // A redirect from the page's new route would hide the page. A redirect that a move back makes obsolete needs no
    // replacement.
    const hiding = model.redirects.filter((redirect) => routeKey(redirect.from) === routeKey(newSource));
    const undone = hiding.find((redirect) => leadsTo(redirect, oldTarget));
    removed.push(...hiding);
    for (const redirect of model.redirects) {
      if (hiding.includes(redirect) || redirect.toRange === undefined || !leadsTo(redirect, oldTarget)) continue;
      const tail = /[?#][\s\S]*$/.exec(redirect.to)?.[0] ?? "";
      plan.splice(redirect.file, replaceRange(...redirect.toRange, newTarget + tail));
      plan.count("redirects");
    }
    if (undone !== undefined) continue;
    const isKnown = model.redirects.some((redirect) => routeKey(redirect.from) === routeKey(oldSource));
    if (model.redirectStore !== null && !isKnown) added.push({ from: oldSource, to: newTarget });
    else if (model.redirectStore === null) {
      const reason = `${model.framework} keeps no redirects: ${before.route} will not lead to ${now.route}`;
      plan.skip({ path: to, line: 1, reason });
    }
  }
  const edits = [
    added.length === 0 ? null : model.redirectStore?.add(added),
    removed.length === 0 ? null : model.redirectStore?.remove(removed),
  ];
  for (const edit of edits) if (edit) plan.apply(edit);
  if (added.length + removed.length > 0) plan.count("redirects", added.length + removed.length);
}
