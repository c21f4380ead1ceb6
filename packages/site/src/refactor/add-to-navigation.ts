import type { NavList } from "../frameworks/framework.ts";
import type { PageNode } from "../links/site-index.ts";
import { findList, listFor } from "../navigation/find-list.ts";
import { pageOfTarget } from "../navigation/listed-pages.ts";
import type { Site } from "../site.ts";
import { toByteString } from "../text/bytes.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, type EditPlan, refuse } from "./edit-plan.ts";
import { locatePage } from "./locate-page.ts";
import { entriesOf, removeEntries, reorder } from "./navigation-entries.ts";

export interface AddToNavigation {
  page: string;
  /** The group's name. Default: the group of the page's siblings. */
  group?: string;
  /** A listed page before or after which to insert. */
  before?: string;
  after?: string;
  /** If the page is already listed, move its entry. */
  move?: boolean;
}

interface Spot {
  list: NavList;
  index: number;
}

/** Lists a page in the navigation, or moves its entry. */
export async function addToNavigation(site: Site, input: AddToNavigation): Promise<Refactoring> {
  const located = locatePage(site, input.page);
  if (located.kind === "refused") return located;
  const plan = createPlan(site);
  const entries = entriesOf(site, located.node.path);
  if (entries.length > 0 && input.move !== true) return plan.finish();
  const spot = findSpot(site, located.node.path, input);
  if ("reason" in spot) return refuse(spot.reason);
  const [entry] = entries;
  if (entry !== undefined) {
    if (entries.length > 1) return refuse(`${located.node.path} is listed more than once`);
    if (entry.list === spot.list) {
      await moveWithin(site, spot, entry.index, plan);
      return plan.finish();
    }
    const reason = await removeEntries(site, located.node.path, plan);
    if (reason !== null) return refuse(reason);
  }
  await insertEntry(site, spot, located.node, plan);
  return plan.finish();
}

async function moveWithin(site: Site, { list, index }: Spot, from: number, plan: EditPlan): Promise<void> {
  const bytes = await site.tree.read(list.file);
  const item = list.items[from];
  if (bytes === null || item === undefined) return;
  const ordered = [...list.items.slice(0, index), item, ...list.items.slice(index)].filter(
    (one, at) => one !== item || at === index,
  );
  if (ordered.every((one, at) => one === list.items[at])) return;
  reorder(list, ordered, toByteString(bytes), plan);
  plan.count("navigation");
}

export function findSpot(
  site: Site,
  path: string,
  input: Omit<AddToNavigation, "page" | "move">,
): Spot | { reason: string } {
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
  const behind = input.before === undefined ? groupOfRoot(site, located.node.path, chosen) : null;
  if (behind !== null) return { list: behind, index: 0 };
  return {
    reason: `the navigation${input.group === undefined ? "" : ` group "${input.group}"`} does not list ${located.node.path}`,
  };
}

/** A group's own page comes before the first page of its list. */
function groupOfRoot(site: Site, path: string, chosen: NavList | null): NavList | null {
  const root = site.navigation.find(
    (list) =>
      list.isFixed === true &&
      list.items.some(({ target }) => target !== null && pageOfTarget(site.index, target) === path),
  );
  const name = root?.trail.join("\0");
  const group = site.navigation.find((list) => list.isFixed !== true && list.trail.join("\0") === name);
  return group === undefined || (chosen !== null && chosen !== group) ? null : group;
}

export async function insertEntry(site: Site, { list, index }: Spot, node: PageNode, plan: EditPlan): Promise<void> {
  const bytes = await site.tree.read(list.file);
  if (bytes === null) return;
  const target = site.model.navTarget(node.path, node.route, node.brief.fields, list);
  plan.splice(list.file, list.insert(toByteString(bytes), index, target, node.title ?? target));
  plan.count("navigation");
}
