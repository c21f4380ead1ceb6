import { fixLinks } from "@emend/site";
import { Type } from "typebox";
import { pagesUnder } from "./pages-under.ts";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const fixLinksTool = defineTool({
  name: "fix_links",
  description:
    "Fixes every broken link and anchor whose right target is certain, on the whole site or below `under`. It lists those that it left alone, and why.",
  input: Type.Object(
    { under: Type.Optional(Type.String({ minLength: 1, description: "A page, or a folder such as guides/" })) },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, { under }, signal) {
    const site = await context.site.head(signal);
    const scope = under === undefined ? null : pagesUnder(site, under);
    if (scope?.kind === "refused") return scope;
    return carryOut(context, await fixLinks(site, scope === null ? {} : { pages: scope.paths }));
  },
});
