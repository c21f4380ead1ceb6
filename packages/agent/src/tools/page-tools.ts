import {
  addPage,
  addRedirect,
  findPage,
  fixLinks,
  movePage,
  moveSection,
  renameHeading,
  type Site,
  setFrontMatter,
} from "@emend/site";
import { Type } from "typebox";
import { applyRefactoring } from "./report.ts";
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
    return applyRefactoring(context, await addPage(await context.site.head(signal), input));
  },
});

export const addRedirectTool = defineTool({
  name: "add_redirect",
  description: "Redirects an old address to a page.",
  input: Type.Object({ from: text, to: text }, { additionalProperties: false }),
  writes: true,
  async run(context, input, signal) {
    return applyRefactoring(context, await addRedirect(await context.site.head(signal), input));
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
    return applyRefactoring(context, await setFrontMatter(await context.site.head(signal), { page, field, value }));
  },
});

export const moveSectionTool = defineTool({
  name: "move_section",
  description: "Moves a section to page `to`, new or not, or behind its heading `after`; or renames it. Links follow.",
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
      return applyRefactoring(context, await renameHeading(site, { page, from: heading, to: rename ?? "" }));
    const place = { to, ...(after !== undefined && { after }), ...(rename !== undefined && { rename }) };
    return applyRefactoring(context, await moveSection(site, { page, heading, ...place }));
  },
});

export const fixLinksTool = defineTool({
  name: "fix_links",
  description:
    "Repairs broken links whose target is certain; lists the others. `only`: nothing but the fragments of links.",
  input: Type.Object(
    { under: optionalText, only: Type.Optional(Type.Literal("anchors")) },
    { additionalProperties: false },
  ),
  writes: true,
  run: (context, { under, only }, signal) => repairLinks(context, under, signal, only),
});

export async function repairLinks(
  context: ToolContext,
  under: string | undefined,
  signal: AbortSignal,
  only?: "anchors",
): Promise<ToolAnswer> {
  const site = await context.site.head(signal);
  const scope = under === undefined ? null : pagesUnder(site, under);
  if (scope?.kind === "refused") return scope;
  const before = await context.site.base(signal);
  const pages = scope?.paths ?? site.pages.map(({ path }) => path);
  const fixed = await fixLinks(site, { pages, before, ...(only && { only }) });
  if (fixed.kind === "refused" || pages.length === 1) return applyRefactoring(context, fixed);
  // One page that may not be changed must not keep the others from it.
  const refused = [...fixed.edits.keys()].flatMap((path) => {
    const reason = context.refusePath(path);
    return reason === null ? [] : [{ path, line: 1, reason: `its links stay: ${reason}` }];
  });
  if (refused.length === 0) return applyRefactoring(context, fixed);
  const others = pages.filter((path) => !refused.some((one) => one.path === path));
  const rest = await fixLinks(site, { pages: others, before, ...(only && { only }) });
  return applyRefactoring(
    context,
    rest.kind === "refused" ? rest : { ...rest, skipped: [...refused, ...rest.skipped] },
  );
}

export const renamePageTool = defineTool({
  name: "rename_page",
  description: "Moves a page or folder; links, navigation, redirects follow. `to` may be a folder/.",
  input: Type.Object(
    { from: Type.String({ minLength: 1 }), to: Type.String({ minLength: 1 }) },
    { additionalProperties: false },
  ),
  older: ({ into, ...input }) => (typeof into === "string" ? { ...input, to: `${into.replace(/\/+$/, "")}/` } : input),
  writes: true,
  async run(context, { from, to }, signal) {
    const site = await context.site.head(signal);
    const doubt = doubtAbout(site, from);
    if (doubt !== null) return { kind: "refused", reason: doubt };
    return applyRefactoring(
      context,
      await movePage(site, { from, to: to.endsWith("/") ? placeIn(site, from, to) : to }),
    );
  },
});

/** In a folder, a page keeps its file name, and a folder the name that was given. */
function placeIn(site: Site, words: string, folder: string): string {
  const isPage = findPage(site, words).kind === "found";
  return isPage ? folder : `${folder}${words.replace(/\/+$/, "").split("/").at(-1)}`;
}

/** `guides` may be guides.mdx or the folder next to it: ambiguous. */
function doubtAbout(site: Site, words: string): string | null {
  const search = findPage(site, words);
  if (search.kind !== "found" || /\.mdx?$/i.test(words)) return null;
  const folders = foldersNamed(site, words);
  const isInside = folders.some((folder) => search.page.path.startsWith(folder));
  const isFolder = site.pages.some((page) => folders.some((folder) => page.path.startsWith(folder)));
  if (isInside || !isFolder) return null;
  return `${words} is both a page (${search.page.path}) and a folder; name the page by its file`;
}

type Scope = { kind: "pages"; paths: readonly string[] } | { kind: "refused"; reason: string };

/** The pages of a page's or folder's name. An ambiguous name is refused: `guides/` is the folder. */
export function pagesUnder(site: Site, words: string): Scope {
  const name = words.replace(/^\.?\//, "");
  const prefixes = foldersNamed(site, words);
  const below = site.pages
    .filter((page) => prefixes.some((prefix) => page.path.startsWith(prefix)))
    .map((page) => page.path);
  if (name.endsWith("/")) {
    return below.length > 0
      ? { kind: "pages", paths: below }
      : { kind: "refused", reason: `there are no pages below ${name}` };
  }
  const search = findPage(site, name);
  if (search.kind === "found" && below.length > 0) {
    const reason = `${name} is both a page (${search.page.path}) and a folder; write ${name}/ for the folder`;
    return { kind: "refused", reason };
  }
  if (search.kind === "found") return { kind: "pages", paths: [search.page.path] };
  if (below.length > 0) return { kind: "pages", paths: below };
  const others = search.kind === "ambiguous" ? search.pages : search.nearest;
  return {
    kind: "refused",
    reason: `no single page or folder is named ${JSON.stringify(words)}${list(others.map((page) => page.path))}`,
  };
}

/** The folders that the words may name, each with a trailing slash. */
function foldersNamed(site: Site, words: string): readonly string[] {
  const folder = words.replace(/^\.?\//, "").replace(/\/+$/, "");
  return [`${folder}/`, ...(site.root === "" ? [] : [`${site.root}/${folder}/`])];
}

function list(paths: readonly string[]): string {
  return paths.length === 0 ? "" : `; there is ${paths.slice(0, 5).join(", ")}`;
}
