import { resolveTarget } from "../links/resolve.ts";
import { routeKey } from "../links/route.ts";
import { isExternal } from "../links/target.ts";
import type { Site } from "../site.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, refuse } from "./edit-plan.ts";
import { locatePage } from "./locate-page.ts";

/** Redirects an old route to a page or a URL. */
export async function addRedirect(site: Site, input: { from: string; to: string }): Promise<Refactoring> {
  const { model, index } = site;
  const from = input.from.trim();
  if (from === "" || isExternal(from) || /[\s#]/.test(from)) return refuse(`"${input.from}" is no route of this site`);
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
