import {
  addRedirect,
  addToNavigation,
  findPage,
  orderNavigation,
  type Refactoring,
  removeFromNavigation,
  renameGroup,
  type Site,
} from "@emend/site";
import { Type } from "typebox";
import { applyRefactoring } from "./report.ts";
import { defineTool } from "./tool.ts";

const name = Type.Optional(Type.String({ minLength: 1 }));

export const updateNavigationTool = defineTool({
  name: "update_navigation",
  description:
    "Places `page`; `remove`: takes one out; `order`: first in `group`; `rename`: the `group`; `redirect`: an old address `to` a page.",
  input: Type.Object(
    {
      page: name,
      add: name,
      move: name,
      remove: name,
      order: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
      rename: name,
      group: name,
      before: name,
      after: name,
      redirect: name,
      to: name,
    },
    { additionalProperties: false },
  ),
  unshown: ["add", "move"],
  writes: true,
  async run(context, { page, add, move = page, remove, order, rename, group, before, after, redirect, to }, signal) {
    if ([add, move, remove, order, rename, redirect].filter((one) => one !== undefined).length !== 1) {
      return { kind: "refused", reason: "give one of page, remove, order, rename and redirect" };
    }
    if (add === undefined && move === undefined && (before ?? after) !== undefined) {
      return { kind: "refused", reason: "before and after belong to page" };
    }
    if ((redirect === undefined) !== (to === undefined)) return { kind: "refused", reason: "redirect needs `to`" };
    const site = await context.site.head(signal);
    const inGroup = group ? { group } : {};
    const place = { ...inGroup, ...(before ? { before } : {}), ...(after ? { after } : {}) };
    if (move !== undefined)
      return applyRefactoring(context, await addToNavigation(site, { page: move, ...place, move: true }));
    if (redirect && to) return applyRefactoring(context, await addRedirect(site, { from: redirect, to }));
    if (remove !== undefined) return applyRefactoring(context, await removeFromNavigation(site, { page: remove }));
    if (rename !== undefined) {
      if (!group) return { kind: "refused", reason: "name the group to rename" };
      return applyRefactoring(context, await renameGroup(site, { from: group, to: rename }));
    }
    if (add !== undefined) {
      const added = await addToNavigation(site, { page: add, ...place });
      return applyRefactoring(context, isListedAlready(added) ? explainListed(site, add, place, added) : added);
    }
    return applyRefactoring(context, await orderNavigation(site, { pages: order ?? [], ...inGroup }));
  },
});

function isListedAlready(added: Refactoring): boolean {
  return added.kind === "done" && added.edits.size === 0;
}

/** "Already listed" is a success only at the requested place. */
function explainListed(
  site: Site,
  words: string,
  place: { group?: string; before?: string; after?: string },
  added: Refactoring,
): Refactoring {
  const search = findPage(site, words);
  if (search.kind !== "found") return added;
  const names = [search.page.route, search.page.path].map(plain);
  const lists = site.navigation.filter((list) =>
    list.items.some((item) => item.target !== null && names.includes(plain(item.target))),
  );
  const groups = lists.flatMap((list) => list.trail.slice(-1));
  const isThere =
    place.group === undefined || groups.some((group) => group.toLowerCase() === place.group?.toLowerCase());
  if (isThere && place.before === undefined && place.after === undefined) return added;
  const where = groups.length === 0 ? "" : `, in ${groups.map((group) => JSON.stringify(group)).join(", ")}`;
  return {
    kind: "refused",
    reason: `${search.page.path} is listed already${where}; move its entry, or order the group`,
  };
}

function plain(target: string): string {
  return target.replace(/^\/+/, "").replace(/\.mdx?$/i, "");
}
