import { addToNavigation, findPage, orderNavigation, type Refactoring, type Site } from "@emend/site";
import { Type } from "typebox";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const updateNavigationTool = defineTool({
  name: "update_navigation",
  description:
    "Changes the site's navigation. Give `add` to list a page (in a group; before or after another page), or `order` to put the pages of a group in the order given.",
  input: Type.Object(
    {
      add: Type.Optional(Type.String({ minLength: 1, description: "The page to list" })),
      order: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 2 })),
      group: Type.Optional(Type.String({ minLength: 1 })),
      before: Type.Optional(Type.String({ minLength: 1 })),
      after: Type.Optional(Type.String({ minLength: 1 })),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, { add, order, group, before, after }, signal) {
    if ((add === undefined) === (order === undefined)) return { kind: "refused", reason: "give either add or order" };
    const site = await context.site.head(signal);
    if (order !== undefined && (before ?? after) !== undefined) {
      return { kind: "refused", reason: "before and after belong to add" };
    }
    const place = { ...(group ? { group } : {}), ...(before ? { before } : {}), ...(after ? { after } : {}) };
    if (add !== undefined) {
      const added = await addToNavigation(site, { page: add, ...place });
      return carryOut(context, isListedAlready(added) ? explainListed(site, add, place, added) : added);
    }
    return carryOut(context, await orderNavigation(site, { pages: order ?? [], ...(group ? { group } : {}) }));
  },
});

function isListedAlready(added: Refactoring): boolean {
  return added.kind === "done" && added.edits.size === 0;
}

/** Listed already is what was asked for only where it is the place that was asked for. */
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
    reason: `${search.page.path} is listed already${where}; order the group to move it within`,
  };
}

function plain(target: string): string {
  return target.replace(/^\/+/, "").replace(/\.mdx?$/i, "");
}
