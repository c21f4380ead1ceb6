import { locatePage } from "../find-page.ts";
import type { Redirect, RedirectPair } from "../frameworks/framework.ts";
import { resolveTarget } from "../links/resolve.ts";
import type { SiteIndex } from "../links/site-index.ts";
import { isExternal, routeKey } from "../links/target.ts";
import type { Site } from "../site.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, type EditPlan, refuse, replaceRange } from "./edit-plan.ts";

/** Redirects an old route to a page or a URL. */
export async function addRedirect(site: Site, input: { from: string; to: string }): Promise<Refactoring> {
  const { model, index } = site;
  const from = input.from.trim();
  if (from === "" || isExternal(from) || /[\s#]/.test(from))
    return refuse(`"${input.from}" is not a route of this site`);
  if (model.redirectStore === null) return refuse(`${model.framework} keeps no redirects in the repository`);
  const source = from.startsWith("/") ? from : `/${from}`;
  const taken = index.routes.get(routeKey(source));
  if (taken !== undefined) return refuse(`${source} is a page (${taken}); move it instead`);
  let target = input.to.trim();
  if (!isExternal(target)) {
    const located = locatePage(site, target.split("#")[0] ?? "");
    const isServed =
      resolveTarget(index, "", target.startsWith("/") ? target : `/${target}`, "link").kind !== "missing";
    if (located.kind === "refused" && !isServed) return refuse(located.reason);
    if (located.kind === "found") {
      const hash = target.includes("#") ? target.slice(target.indexOf("#")) : "";
      target = model.redirectTarget(located.node.path, located.node.route) + hash;
    } else if (!target.startsWith("/")) target = `/${target}`;
  }
  const plan = createPlan(site);
  const existing = model.redirects.find((redirect) => routeKey(redirect.from) === routeKey(source));
  if (existing !== undefined) {
    if (routeKey(existing.to) === routeKey(target)) return plan.finish();
    return refuse(`${source} already leads to ${existing.to}`);
  }
  plan.apply(model.redirectStore.add([{ from: model.redirectTarget(null, source), to: target }]));
  plan.count("redirects");
  return plan.finish();
}

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
      if (hiding.includes(redirect) || redirect.toRange === undefined) continue;
      const key = routeKey(redirect.to.split(/[?#]/)[0] ?? "");
      // In a language without the page, its default one is shown.
      const fallback = site.index.routes.has(key) ? null : (model.fallbackRoute?.(key) ?? null);
      const isShown = fallback !== null && routeKey(fallback) === routeKey(before.route);
      if (!isShown && !leadsTo(redirect, oldTarget)) continue;
      const goal = isShown ? model.redirectTarget(to, `/${key.split("/")[0]}${now.route}`) : newTarget;
      const tail = /[?#][\s\S]*$/.exec(redirect.to)?.[0] ?? "";
      plan.splice(redirect.file, replaceRange(...redirect.toRange, goal + tail));
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
