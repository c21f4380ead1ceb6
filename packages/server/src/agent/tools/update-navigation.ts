import { addToNavigation, orderNavigation } from "@emend/site";
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
    const place = { ...(group ? { group } : {}), ...(before ? { before } : {}), ...(after ? { after } : {}) };
    if (add !== undefined) return carryOut(context, await addToNavigation(site, { page: add, ...place }));
    return carryOut(context, await orderNavigation(site, { pages: order ?? [], ...(group ? { group } : {}) }));
  },
});
