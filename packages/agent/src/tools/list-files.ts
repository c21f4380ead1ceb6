import { Type } from "typebox";
import { copiesOutside, countList, countOf, isGlob, locate, pathFilter } from "./paths.ts";
import { siteMap } from "./site-map.ts";
import { defineTool, fitItems } from "./tool.ts";

/** Above this, only folders with their counts are shown. */
const filesShownMax = 400;
const asset = /\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp|mp4|webm|mov|mp3|pdf|woff2?|ttf|otf|eot|zip|gz)$/i;

export const listFilesTool = defineTool({
  name: "list_files",
  description: "Files by folder. `show`: media, navigation, or titles and routes.",
  input: Type.Object(
    {
      under: Type.Optional(Type.String()),
      show: Type.Optional(
        Type.Unsafe<"all" | "navigation" | "titles">({ type: "string", enum: ["all", "navigation", "titles"] }),
      ),
    },
    { additionalProperties: false },
  ),
  older: ({ all, ...input }) => (all === true ? { ...input, show: "all" } : input),
  async run(context, { under = "", show }, signal) {
    if (show === "navigation" || show === "titles")
      return siteMap(context, { under, titles: show === "titles" }, signal);
    const all = show === "all";
    const { tree, path: below, prefix } = await locate(context, under, signal);
    const folder = below.replace(/^\/|\/$/g, "");
    const paths = (await tree.list()).map(({ path }) => path);
    const inside = paths.filter(pathFilter([below]));
    if (inside.length === 0) return { kind: "refused", reason: `there are no files below ${JSON.stringify(under)}` };
    const copyOf = all ? () => null : copiesOutside(paths, folder);
    const folded = new Map<string, number>();
    const count = (name: string) => folded.set(name, (folded.get(name) ?? 0) + 1);
    const own = inside.filter((path) => {
      const copy = copyOf(path);
      if (copy !== null) count(`${prefix}${copy}/`);
      else if (!all && asset.test(path)) count("media files");
      else return true;
      return false;
    });
    const rest = own.map((path) => prefix + path);
    const items =
      rest.length > filesShownMax ? folderCounts(rest, isGlob(folder) ? "" : prefix + folder) : byFolder(rest);
    const { text } = fitItems(items, context.outputBytesMax, (shown) =>
      shown < items.length ? `… ${items.length - shown} more lines; narrow \`under\` down` : "",
    );
    const total = `${countOf(own.length, "file")}${folded.size > 0 ? `; not listed: ${countList(folded)}` : ""}`;
    return { kind: "answer", text: `${total}\n${text}` };
  },
});

/** Lists each folder once, followed by its files. */
function byFolder(paths: readonly string[]): readonly string[] {
  const folders = Map.groupBy(paths, (path) => path.slice(0, path.lastIndexOf("/") + 1));
  return [...folders]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, files]) => `${folder || "./"} ${files.map((path) => path.slice(folder.length)).join(" ")}`);
}

function folderCounts(paths: readonly string[], below: string): readonly string[] {
  const start = below === "" ? "" : `${below.replace(/\/+$/, "")}/`;
  const groups = Map.groupBy(paths, (path) => path.slice(start.length).split("/").slice(0, -1).slice(0, 2).join("/"));
  return [...groups].map(([name, files]) =>
    name === ""
      ? `${start || "./"} ${files.map((path) => path.slice(start.length)).join(" ")}`
      : `${start}${name}/ (${files.length})`,
  );
}
