import { Type } from "typebox";
import { defineTool } from "./tool.ts";

export const writeFileTool = defineTool({
  name: "write_file",
  description: "Writes a whole file, new or existing. Prefer edit_file for a part, and add_page for a new page.",
  input: Type.Object({ path: Type.String({ minLength: 1 }), content: Type.String() }, { additionalProperties: false }),
  writes: true,
  async run({ overlay, refusePath }, { path, content }) {
    const refusal = refusePath(path);
    if (refusal !== null) return { kind: "refused", reason: refusal };
    const existed = (await overlay.read(path)) !== null;
    await overlay.set(path, Buffer.from(content));
    return { kind: "answer", text: `${existed ? "overwrote" : "wrote"} ${path}` };
  },
});
