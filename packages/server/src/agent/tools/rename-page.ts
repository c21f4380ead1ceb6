import { findPage, movePage, type Site } from "@emend/site";
import { Type } from "typebox";
import { foldersNamed } from "./pages-under.ts";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

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
    return carryOut(context, await movePage(site, { from, to: to.endsWith("/") ? placeIn(site, from, to) : to }));
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
