import type { NavList } from "../frameworks/framework.ts";
import type { PageNode } from "../links/site-index.ts";
import { findList, listFor } from "../navigation/find-list.ts";
import { listedPages, pageOfTarget } from "../navigation/listed-pages.ts";
import type { Site } from "../site.ts";
import { toByteString } from "../text/bytes.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, type EditPlan, refuse } from "./edit-plan.ts";
import { locatePage } from "./locate-page.ts";

export interface AddToNavigation {
  page: string;
  /** The group's name; left out, the page goes where its neighbours are. */
  group?: string;
  /** A listed page to stand before or after. */
  before?: string;
  after?: string;
}

interface Spot {
  list: NavList;
  index: number;
}

/** Lists a page in the navigation. */
export async function addToNavigation(site: Site, input: AddToNavigation): Promise<Refactoring> {
  const located = locatePage(site, input.page);
  if (located.kind === "refused") return located;
  const plan = createPlan(site);
  if (listedPages(site.index).has(located.node.path)) return plan.finish();
  const spot = findSpot(site, located.node.path, input);
  if ("reason" in spot) return refuse(spot.reason);
  await insertEntry(site, spot, located.node, plan);
  return plan.finish();
}

export function findSpot(site: Site, path: string, input: Omit<AddToNavigation, "page">): Spot | { reason: string } {
  if (site.navigation.length === 0) {
    return { reason: `this ${site.framework} site has no list of pages to edit; its pages show up by themselves` };
  }
  const chosen = input.group === undefined ? null : findList(site, input.group);
  if (chosen !== null && "reason" in chosen) return chosen;
  const neighbour = input.before ?? input.after;
  if (neighbour === undefined) {
    const list = chosen ?? listFor(site, path);
    return list === null ? { reason: "the navigation has no list of pages" } : { list, index: list.items.length };
  }
  const located = locatePage(site, neighbour);
  if (located.kind === "refused") return located;
  for (const list of chosen === null ? site.navigation.filter((one) => one.isFixed !== true) : [chosen]) {
    const index = list.items.findIndex(
      ({ target }) => target !== null && pageOfTarget(site.index, target) === located.node.path,
    );
    if (index !== -1) return { list, index: input.before === undefined ? index + 1 : index };
  }
  return {
    reason: `the navigation${input.group === undefined ? "" : ` group "${input.group}"`} does not list ${located.node.path}`,
  };
}

export async function insertEntry(site: Site, { list, index }: Spot, node: PageNode, plan: EditPlan): Promise<void> {
  const bytes = await site.tree.read(list.file);
  if (bytes === null) return;
  const target = site.model.navTarget(node.path, node.route, node.brief.fields, list);
  plan.splice(list.file, list.insert(toByteString(bytes), index, target, node.title ?? target));
  plan.count("navigation");
}
