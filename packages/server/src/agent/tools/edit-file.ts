import { Type } from "typebox";
import { readText } from "./file-text.ts";
import { defineTool } from "./tool.ts";

export const editFileTool = defineTool({
  name: "edit_file",
  description:
    "Replaces one piece of a file. `oldText` must match exactly, without line numbers, and must occur once: give enough of the lines around it.",
  input: Type.Object(
    { path: Type.String({ minLength: 1 }), oldText: Type.String({ minLength: 1 }), newText: Type.String() },
    { additionalProperties: false },
  ),
  writes: true,
  async run({ overlay, refusePath }, { path, oldText, newText }) {
    const refusal = refusePath(path);
    if (refusal !== null) return { kind: "refused", reason: refusal };
    const file = await readText(overlay, path);
    if (file.kind === "refused") return file;
    // Bytes, not text: the rest of a file that is not valid UTF-8 stays as it is.
    const inFile = file.bytes.includes("\r\n") ? toCrLf : (text: string) => text;
    const found = file.bytes.indexOf(inFile(oldText));
    if (found === -1)
      return { kind: "refused", reason: `oldText does not occur in ${path}; read_file shows its exact text` };
    if (file.bytes.indexOf(inFile(oldText), found + 1) !== -1) {
      return { kind: "refused", reason: `oldText occurs more than once in ${path}; give more of the lines around it` };
    }
    if (oldText === newText) return { kind: "refused", reason: "oldText and newText are the same" };
    const after = file.bytes.subarray(found + Buffer.byteLength(inFile(oldText)));
    await overlay.set(path, Buffer.concat([file.bytes.subarray(0, found), Buffer.from(inFile(newText)), after]));
    return { kind: "answer", text: `edited ${path}` };
  },
});

function toCrLf(text: string): string {
  return text.replaceAll(/\r?\n/g, "\r\n");
}
