import type { Redirect, RedirectPair } from "../frameworks/framework.ts";
import { routeKey } from "../links/route.ts";
import type { SiteIndex } from "../links/site-index.ts";
import type { Site } from "../site.ts";
import { type EditPlan, replaceRange } from "./edit-plan.ts";

function leadsTo(redirect: Redirect, route: string): boolean {
  return routeKey(redirect.to.split(/[?#]/)[0] ?? "") === routeKey(route);
}

/** Sends old routes to the new ones, keeps existing redirects short, and takes back the one that a move back undoes. */
export function moveRedirects(site: Site, after: SiteIndex, moves: ReadonlyMap<string, string>, plan: EditPlan): void {
  const { model } = site;
  const added: RedirectPair[] = [];
  const removed: Redirect[] = [];
  for (const [from, to] of moves) {
    const before = site.index.nodes.get(from);
    const now = after.nodes.get(to);
    if (before === undefined || now === undefined || before.isPartial || now.isPartial) continue;
    if (routeKey(before.route) === routeKey(now.route)) continue;
    const oldTarget = model.redirectTarget(from, before.route);
    const newTarget = model.redirectTarget(to, now.route);
    // Moving back: the redirect that the first move added would now be a loop.
    const undone = model.redirects.find(
      (redirect) => routeKey(redirect.from) === routeKey(newTarget) && leadsTo(redirect, oldTarget),
    );
    for (const redirect of model.redirects) {
      if (redirect === undone || redirect.toRange === undefined || !leadsTo(redirect, oldTarget)) continue;
      const tail = /[?#][\s\S]*$/.exec(redirect.to)?.[0] ?? "";
      plan.splice(redirect.file, replaceRange(...redirect.toRange, newTarget + tail));
      plan.count("redirects");
    }
    if (undone !== undefined) removed.push(undone);
    else if (model.redirectStore !== null) added.push({ from: oldTarget, to: newTarget });
    else {
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
