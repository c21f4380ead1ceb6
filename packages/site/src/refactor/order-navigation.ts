import type { NavItem, NavList } from "../frameworks/framework.ts";
import { findList } from "../navigation/find-list.ts";
import { pageOfTarget } from "../navigation/listed-pages.ts";
import type { Site } from "../site.ts";
import { toByteString } from "../text/bytes.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, refuse } from "./edit-plan.ts";
import { locatePage } from "./locate-page.ts";
import { reorder } from "./navigation-entries.ts";

/** Moves pages of one list to its start, in the given order. The others follow in their old order. */
export async function orderNavigation(
  site: Site,
  input: { group?: string; pages: readonly string[] },
): Promise<Refactoring> {
  if (input.pages.length === 0) return refuse("name the pages in their order");
  const paths: string[] = [];
  for (const words of input.pages) {
    const located = locatePage(site, words);
    if (located.kind === "refused") return located;
    if (paths.includes(located.node.path)) return refuse(`${located.node.path} is named twice`);
    paths.push(located.node.path);
  }
  const list = input.group === undefined ? listWith(site, paths) : findList(site, input.group);
  if ("reason" in list) return refuse(list.reason);
  const pageOf = ({ target }: NavItem): string | null => (target === null ? null : pageOfTarget(site.index, target));
  const absent = paths.find((path) => !list.items.some((item) => pageOf(item) === path));
  if (absent !== undefined) return refuse(`the group does not list ${absent}`);
  const named = paths.map((path) => list.items.find((item) => pageOf(item) === path) as NavItem);
  const ordered = [...named, ...list.items.filter((item) => !named.includes(item))];
  const plan = createPlan(site);
  const bytes = await site.tree.read(list.file);
  if (bytes === null) return refuse(`${list.file} is gone`);
  reorder(list, ordered, toByteString(bytes), plan);
  if (ordered.some((item, i) => item !== list.items[i])) plan.count("navigation", paths.length);
  return plan.finish();
}

function listWith(site: Site, paths: readonly string[]): NavList | { reason: string } {
  const found = site.navigation.find((list) => {
    const pages = new Set(list.items.map(({ target }) => (target === null ? null : pageOfTarget(site.index, target))));
    return paths.every((path) => pages.has(path));
  });
  return found ?? { reason: "no navigation group lists all of these pages; name the group or fewer pages" };
}
