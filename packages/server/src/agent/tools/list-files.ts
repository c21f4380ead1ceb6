import { Type } from "typebox";
import { locate } from "./context-path.ts";
import { defineTool } from "./tool.ts";

const filesMax = 1_000;

export const listFilesTool = defineTool({
  name: "list_files",
  description:
    "Lists the repository's files, with the edits so far, sorted by path. Give `under` to stay below a folder and `after` to continue a long list. `under: @name` lists the context repository of that name.",
  input: Type.Object(
    {
      under: Type.Optional(Type.String({ description: "A folder, for example guides" })),
      after: Type.Optional(Type.String({ description: "List only paths that sort after this one" })),
    },
    { additionalProperties: false },
  ),
  async run(context, { under = "", after = "" }, signal) {
    const { tree, path: below, prefix } = await locate(context, under, signal);
    const folder = below.replace(/^\/|\/$/g, "");
    const entries = await tree.list();
    const paths = entries
      .filter(({ path }) => folder === "" || path === folder || path.startsWith(`${folder}/`))
      .map(({ path }) => prefix + path)
      .filter((path) => path > after)
      .sort();
    if (paths.length === 0) return { kind: "refused", reason: `there are no files below ${JSON.stringify(under)}` };
    const shown = paths.slice(0, filesMax);
    const missing = paths.length - shown.length;
    const rest = missing > 0 ? `\n… ${missing} more files; ask with after: ${JSON.stringify(shown.at(-1))}` : "";
    return { kind: "answer", text: shown.join("\n") + rest, more: "ask with after: the last path shown" };
  },
});
