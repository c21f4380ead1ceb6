import type { NavList } from "../frameworks/framework.ts";
import { baseOf, dirOf, stripExtension } from "../links/route.ts";
import type { PageNode, SiteIndex } from "../links/site-index.ts";
import { pageOfTarget } from "../navigation/listed-pages.ts";
import type { Site } from "../site.ts";
import { type EditPlan, replaceRange } from "./edit-plan.ts";

/** Rewrites navigation entries of pages that moved. */
export function moveInNavigation(
  site: Site,
  after: SiteIndex,
  moves: ReadonlyMap<string, string>,
  plan: EditPlan,
): void {
  for (const list of site.navigation) {
    for (const [i, item] of list.items.entries()) {
      const { target, targetStart, targetEnd } = item;
      const page = target === null ? null : pageOfTarget(site.index, target);
      const moved = page === null ? undefined : moves.get(page);
      if (moved === undefined || target === null) continue;
      const node = after.nodes.get(moved);
      if (node === undefined) continue;
      if (list.folder !== undefined && page !== null) {
        moveBetweenFolders(site, list, i, node, plan);
        continue;
      }
      let text = site.model.navTarget(moved, node.route, node.brief.fields, list);
      if (target.startsWith("/") && !text.startsWith("/")) text = `/${text}`;
      if (text === target) continue;
      text = list.written?.(text, item) ?? text;
      plan.splice(list.file, replaceRange(targetStart, targetEnd, text));
      plan.count("navigation");
    }
  }
}

/** Where each folder lists its own files, a page that leaves one goes into the other's list, if there is one. */
function moveBetweenFolders(site: Site, list: NavList, index: number, node: PageNode, plan: EditPlan): void {
  const item = list.items[index];
  if (item === undefined) return;
  const name = stripExtension(baseOf(node.path));
  if (dirOf(node.path) === list.folder) {
    plan.splice(list.file, replaceRange(item.targetStart, item.targetEnd, list.written?.(name, item) ?? name));
  } else {
    for (const splice of list.remove?.(index) ?? []) plan.splice(list.file, splice);
    const other = site.navigation.find((one) => one.folder === dirOf(node.path));
    if (other?.text !== undefined) {
      plan.splice(other.file, other.insert(other.text, other.items.length, name, item.label ?? node.title ?? name));
    }
  }
  plan.count("navigation");
}
