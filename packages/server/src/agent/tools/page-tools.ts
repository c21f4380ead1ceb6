import { addPage, addRedirect, fixLinks, moveSection, renameHeading, setFrontMatter } from "@emend/site";
import { Type } from "typebox";
import { pagesUnder } from "./pages-under.ts";
import { carryOut } from "./report.ts";
import { defineTool, type ToolAnswer, type ToolContext } from "./tool.ts";

const text = Type.String({ minLength: 1 });
const optionalText = Type.Optional(text);

export const addPageTool = defineTool({
  name: "add_page",
  description: "Adds a page and lists it in the navigation.",
  input: Type.Object(
    {
      path: text,
      title: optionalText,
      content: Type.String(),
      group: Type.Optional(Type.String({ minLength: 1, description: "Navigation group" })),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, input, signal) {
    return carryOut(context, await addPage(await context.site.head(signal), input));
  },
});

export const addRedirectTool = defineTool({
  name: "add_redirect",
  description: "Redirects an old address to a page.",
  input: Type.Object({ from: text, to: text }, { additionalProperties: false }),
  writes: true,
  async run(context, input, signal) {
    return carryOut(context, await addRedirect(await context.site.head(signal), input));
  },
});

const scalar = [Type.String(), Type.Number(), Type.Boolean()] as const;

export const setFrontMatterTool = defineTool({
  name: "set_front_matter",
  description: "Sets a field to a scalar or list; null removes it.",
  input: Type.Object(
    {
      page: text,
      field: text,
      // Described in words above: a union's schema costs as many tokens as the rest of the tool.
      value: Type.Unsafe<string | number | boolean | null | (string | number | boolean)[]>({}),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, { page, field, value }, signal) {
    const isScalar = (one: unknown) => scalar.some((type) => typeof one === type.type);
    if (value !== null && !isScalar(value) && !(Array.isArray(value) && value.every(isScalar))) {
      return { kind: "refused", reason: "value must be a string, a number, a boolean, a list of these, or null" };
    }
    return carryOut(context, await setFrontMatter(await context.site.head(signal), { page, field, value }));
  },
});

export const moveSectionTool = defineTool({
  name: "move_section",
  description:
    "Moves a section to the end of page `to`, new or not, or behind its heading `after`; or renames the heading. Links follow.",
  input: Type.Object(
    { page: text, heading: text, rename: optionalText, to: optionalText, after: optionalText },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, { page, heading, rename, to, after }, signal) {
    if (to === undefined && after !== undefined) return { kind: "refused", reason: "after belongs to `to`" };
    if (to === undefined && rename === undefined) return { kind: "refused", reason: "give `rename`, `to` or both" };
    const site = await context.site.head(signal);
    if (to === undefined)
      return carryOut(context, await renameHeading(site, { page, from: heading, to: rename ?? "" }));
    const place = { to, ...(after !== undefined && { after }), ...(rename !== undefined && { rename }) };
    return carryOut(context, await moveSection(site, { page, heading, ...place }));
  },
});

export const fixLinksTool = defineTool({
  name: "fix_links",
  description: "Repairs broken links whose target is certain; lists the others.",
  input: Type.Object({ under: optionalText }, { additionalProperties: false }),
  writes: true,
  run: (context, { under }, signal) => repairLinks(context, under, signal),
});

export async function repairLinks(
  context: ToolContext,
  under: string | undefined,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const site = await context.site.head(signal);
  const scope = under === undefined ? null : pagesUnder(site, under);
  if (scope?.kind === "refused") return scope;
  const pages = scope === null ? {} : { pages: scope.paths };
  return carryOut(context, await fixLinks(site, { ...pages, before: await context.site.base(signal) }));
}
