import { replaceTerm } from "@emend/site";
import { Type } from "typebox";
import { findLeft } from "./find-left.ts";
import { pagesUnder } from "./pages-under.ts";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const replaceTermTool = defineTool({
  name: "replace_term",
  description:
    "Replaces a term by another in the prose of every page, whole words only, keeping capitals and plurals (unless wordForms is false). Code, link targets, front-matter keys, paths (words joined by a slash, unless the term itself holds one), names (words joined by - . _ or @) and directives stay as they are unless includeCode says otherwise; what was left alone is listed.",
  input: Type.Object(
    {
      from: Type.String({ minLength: 1 }),
      to: Type.String({ minLength: 1 }),
      under: Type.Optional(Type.String({ minLength: 1, description: "A page or folder to stay below" })),
      includeCode: Type.Optional(Type.Boolean()),
      wordForms: Type.Optional(Type.Boolean({ description: "Plurals too (default), or the term alone" })),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, { from, to, under, includeCode = false, wordForms = true }, signal) {
    const site = await context.site.head(signal);
    const scope = under === undefined ? null : pagesUnder(site, under);
    if (scope?.kind === "refused") return scope;
    const pages = scope === null ? {} : { pages: scope.paths };
    const replaced = await replaceTerm(site, { from, to, includeCode, wordForms, ...pages });
    if (replaced.kind === "refused") return replaced;
    const others = await findLeft(context.overlay, site, { from, to, paths: scope?.paths ?? null }, signal);
    return carryOut(context, { ...replaced, skipped: [...replaced.skipped, ...others] });
  },
});
