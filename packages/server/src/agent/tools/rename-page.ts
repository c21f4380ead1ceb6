import { findPage, movePage, type Site } from "@emend/site";
import { Type } from "typebox";
import { foldersNamed } from "./pages-under.ts";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const renamePageTool = defineTool({
  name: "rename_page",
  description:
    "Moves or renames a page, or a folder with all its pages: rewrites every link to it, its own relative links and its navigation entry, and adds a redirect from the old address.",
  input: Type.Object(
    {
      from: Type.String({ minLength: 1, description: "The page or folder, for example guides/auth" }),
      to: Type.Optional(
        Type.String({ minLength: 1, description: "Its new place, for example security/authentication" }),
      ),
      into: Type.Optional(
        Type.String({ minLength: 1, description: "Instead of `to`: the folder in which it keeps its own name" }),
      ),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, { from, to, into }, signal) {
    if ((to === undefined) === (into === undefined)) return { kind: "refused", reason: "give one of to and into" };
    const site = await context.site.head(signal);
    const doubt = doubtAbout(site, from);
    if (doubt !== null) return { kind: "refused", reason: doubt };
    return carryOut(context, await movePage(site, { from, to: to ?? placeIn(site, from, into ?? "") }));
  },
});

/** A page has its file's name there, however it was called; a folder the one it was called by. */
function placeIn(site: Site, words: string, folder: string): string {
  const place = folder.replace(/\/+$/, "");
  const isPage = findPage(site, words).kind === "found";
  return isPage ? `${place}/` : `${place}/${words.replace(/\/+$/, "").split("/").at(-1)}`;
}

/** `guides` may be guides.mdx and the folder beside it: nobody can tell which is meant. */
function doubtAbout(site: Site, words: string): string | null {
  const search = findPage(site, words);
  if (search.kind !== "found" || /\.mdx?$/i.test(words)) return null;
  const folders = foldersNamed(site, words);
  const isInside = folders.some((folder) => search.page.path.startsWith(folder));
  const isFolder = site.pages.some((page) => folders.some((folder) => page.path.startsWith(folder)));
  if (isInside || !isFolder) return null;
  return `${words} is both a page (${search.page.path}) and a folder; name the page by its file`;
}
