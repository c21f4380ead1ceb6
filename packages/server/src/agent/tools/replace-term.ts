import { replaceTerm } from "@emend/site";
import { Type } from "typebox";
import { findLeft } from "./find-left.ts";
import { pagesUnder } from "./pages-under.ts";
import { pathFilter } from "./paths.ts";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const replaceTermTool = defineTool({
  name: "replace_term",
  description:
    "Replaces a term in all prose: whole words, keeping capitals and plurals. Code, links, names and paths stay; lists what was left.",
  input: Type.Object(
    {
      from: Type.String({ minLength: 1 }),
      to: Type.String({ minLength: 1 }),
      under: Type.Optional(Type.String({ minLength: 1, description: "Page or folder/" })),
      exclude: Type.Optional(Type.String({ minLength: 1, description: "Glob" })),
      includeCode: Type.Optional(Type.Boolean()),
      wordForms: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, { from, to, under, exclude, includeCode = false, wordForms = true }, signal) {
    const site = await context.site.head(signal);
    const scope = under === undefined ? null : pagesUnder(site, under);
    if (scope?.kind === "refused") return scope;
    const isExcluded = exclude === undefined ? null : pathFilter([exclude]);
    const pages = { ...(scope && { pages: scope.paths }), ...(isExcluded && { excludes: isExcluded }) };
    const replaced = await replaceTerm(site, { from, to, includeCode, wordForms, ...pages });
    if (replaced.kind === "refused") return replaced;
    const left = await findLeft(context.overlay, site, { from, to, paths: scope?.paths ?? null }, signal);
    return carryOut(context, {
      ...replaced,
      skipped: [...replaced.skipped, ...left.filter(({ path }) => !isExcluded?.(path))],
    });
  },
});
