import { Type } from "typebox";
import { locate } from "./context-path.ts";
import { readText } from "./file-text.ts";
import { defineTool } from "./tool.ts";

export const readFileTool = defineTool({
  name: "read_file",
  description:
    "Reads a text file, with the edits so far. Each line comes as its number, a tab and its text. Give startLine and endLine to read a part. A path @name/… is read in the context repository of that name.",
  input: Type.Object(
    {
      path: Type.String({ minLength: 1 }),
      startLine: Type.Optional(Type.Integer({ minimum: 1 })),
      endLine: Type.Optional(Type.Integer({ minimum: 1 })),
    },
    { additionalProperties: false },
  ),
  async run(context, { path: given, startLine = 1, endLine }, signal) {
    const { tree, path } = await locate(context, given, signal);
    const file = await readText(tree, path);
    if (file.kind === "refused") return file;
    const lines = file.bytes.toString().split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    if (lines.length === 0) return { kind: "answer", text: `${path} is empty` };
    if (startLine > lines.length) return { kind: "refused", reason: `${path} has ${lines.length} lines` };
    const shown = lines.slice(startLine - 1, endLine).map((line, index) => `${startLine + index}\t${line}`);
    return { kind: "answer", text: shown.join("\n"), more: "ask with startLine: the number after the last one shown" };
  },
});
