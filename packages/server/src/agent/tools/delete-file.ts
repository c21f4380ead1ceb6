import { Type } from "typebox";
import { defineTool } from "./tool.ts";

export const deleteFileTool = defineTool({
  name: "delete_file",
  description: "Deletes a file. For a page, fix what links to it and add a redirect; check shows what broke.",
  input: Type.Object({ path: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  writes: true,
  async run({ overlay, refusePath }, { path }) {
    const refusal = refusePath(path);
    if (refusal !== null) return { kind: "refused", reason: refusal };
    if ((await overlay.read(path)) === null)
      return { kind: "refused", reason: `there is no file ${JSON.stringify(path)}` };
    await overlay.delete(path);
    return { kind: "answer", text: `deleted ${path}` };
  },
});
