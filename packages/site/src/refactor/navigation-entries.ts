import type { NavItem, NavList } from "../frameworks/framework.ts";
import { pageOfTarget } from "../navigation/listed-pages.ts";
import type { Site } from "../site.ts";
import { type Splice, toByteString } from "../text/bytes.ts";
import type { EditPlan } from "./edit-plan.ts";

export interface Entry {
  list: NavList;
  index: number;
  item: NavItem;
}

/** Every navigation entry of a page. */
export function entriesOf(site: Site, path: string): readonly Entry[] {
  return site.navigation.flatMap((list) =>
    list.items.flatMap((item, index) =>
      item.target !== null && pageOfTarget(site.index, item.target) === path ? [{ list, index, item }] : [],
    ),
  );
}

/** Removes a page's entries from the navigation. Returns the reason if that is not certain. */
export async function removeEntries(
  site: Site,
  path: string,
  plan: EditPlan,
  entries = entriesOf(site, path),
): Promise<string | null> {
  for (const entry of entries) {
    const { list } = entry;
    if (entries.filter((one) => one.list === list).length > 1) return `${list.file} lists ${path} twice in one group`;
    const bytes = await site.tree.read(list.file);
    const splices = list.remove?.(entry.index) ?? (bytes === null ? null : cutOut(site, entry, toByteString(bytes)));
    if (splices === null) return `the entry of ${path} in ${list.file} cannot be taken out alone; edit that file`;
    for (const splice of splices) plan.splice(list.file, splice);
    plan.count("navigation");
  }
  return null;
}

// The separator between two list elements in JSON, YAML, JavaScript or Markdown. A comment there would belong to one of
// them.
const gap = /^[\s,]*(?:[-*+][ \t]+)?$/;

/** The element with its separator. The only element of a list, or one with nested elements, stays. */
function cutOut(site: Site, { list, index, item }: Entry, text: string): readonly Splice[] | null {
  const holdsOthers = site.navigation.some(
    (other) =>
      other !== list &&
      other.file === list.file &&
      other.items.some((one) => one.start >= item.start && one.end <= item.end),
  );
  if (list.isFixed === true || holdsOthers) return null;
  const [before, after] = [list.items[index - 1], list.items[index + 1]];
  if (after !== undefined && gap.test(text.slice(item.end, after.start))) {
    return [{ start: item.start, end: after.start, text: "" }];
  }
  if (before !== undefined && after === undefined && gap.test(text.slice(before.end, item.start))) {
    return [{ start: before.end, end: item.end, text: "" }];
  }
  return null;
}

/** Reorders the elements of a list. Each slot keeps its indentation, comma and line. */
export function reorder(list: NavList, ordered: readonly NavItem[], text: string, plan: EditPlan): void {
  list.items.forEach((slot, i) => {
    const item = ordered[i] as NavItem;
    if (item !== slot)
      plan.splice(list.file, { start: slot.start, end: slot.end, text: text.slice(item.start, item.end) });
  });
}
