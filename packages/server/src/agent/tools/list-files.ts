import { Type } from "typebox";
import { defineTool } from "./tool.ts";

const filesMax = 1_000;

export const listFilesTool = defineTool({
  name: "list_files",
  description:
    "Lists the repository's files, with the edits so far, sorted by path. Give `under` to stay below a folder and `after` to continue a long list.",
  input: Type.Object(
    {
      under: Type.Optional(Type.String({ description: "A folder, for example guides" })),
      after: Type.Optional(Type.String({ description: "List only paths that sort after this one" })),
    },
    { additionalProperties: false },
  ),
  async run({ overlay }, { under = "", after = "" }) {
    const folder = under.replace(/^\/|\/$/g, "");
    const entries = await overlay.list();
    const paths = entries
      .map((entry) => entry.path)
      .filter((path) => path > after && (folder === "" || path === folder || path.startsWith(`${folder}/`)))
      .sort();
    if (paths.length === 0) return { kind: "refused", reason: `there are no files below ${JSON.stringify(folder)}` };
    const shown = paths.slice(0, filesMax);
    const missing = paths.length - shown.length;
    const rest = missing > 0 ? `\n… ${missing} more files; ask with after: ${JSON.stringify(shown.at(-1))}` : "";
    return { kind: "answer", text: shown.join("\n") + rest, more: "ask with after: the last path shown" };
  },
});
