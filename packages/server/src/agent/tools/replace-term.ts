import { replaceTerm } from "@emend/site";
import { Type } from "typebox";
import { pagesUnder } from "./pages-under.ts";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const replaceTermTool = defineTool({
  name: "replace_term",
  description:
    "Replaces a term by another in the prose of every page, whole words only, keeping capitals and plurals. Code, link targets and front-matter keys stay as they are unless includeCode says otherwise; what was left alone is listed.",
  input: Type.Object(
    {
      from: Type.String({ minLength: 1 }),
      to: Type.String({ minLength: 1 }),
      under: Type.Optional(Type.String({ minLength: 1, description: "A page or folder to stay below" })),
      includeCode: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, { from, to, under, includeCode = false }, signal) {
    const site = await context.site.head(signal);
    if (under === undefined) return carryOut(context, await replaceTerm(site, { from, to, includeCode }));
    const scope = pagesUnder(site, under, context.docsDir);
    if (scope.kind === "refused") return scope;
    return carryOut(context, await replaceTerm(site, { from, to, includeCode, pages: scope.paths }));
  },
});
