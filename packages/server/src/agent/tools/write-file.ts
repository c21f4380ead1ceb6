import { addPage, removePage } from "@emend/site";
import { Type } from "typebox";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

const path = Type.String({ minLength: 1 });

export const writeFileTool = defineTool({
  name: "write_file",
  description: "Writes a whole file. `group`: lists a new page in the navigation.",
  input: Type.Object({ path, content: Type.String(), group: Type.Optional(path) }, { additionalProperties: false }),
  writes: true,
  async run(context, input, signal) {
    const { overlay, refusePath } = context;
    if (input.group !== undefined) return carryOut(context, await addPage(await context.site.head(signal), input));
    const refusal = refusePath(input.path);
    if (refusal !== null) return { kind: "refused", reason: refusal };
    const existed = (await overlay.read(input.path)) !== null;
    await overlay.set(input.path, Buffer.from(input.content));
    return { kind: "answer", text: `${existed ? "overwrote" : "wrote"} ${input.path}` };
  },
});

export const deleteFileTool = defineTool({
  name: "delete_file",
  description: "`to`: the page that replaces it in links, navigation and a redirect.",
  input: Type.Object({ path, to: Type.Optional(path) }, { additionalProperties: false }),
  writes: true,
  async run(context, input, signal) {
    const { to } = input;
    if (to !== undefined)
      return carryOut(context, await removePage(await context.site.head(signal), { page: input.path, to }));
    const refusal = context.refusePath(input.path);
    if (refusal !== null) return { kind: "refused", reason: refusal };
    if ((await context.overlay.read(input.path)) === null)
      return { kind: "refused", reason: `there is no file ${JSON.stringify(input.path)}` };
    await context.overlay.delete(input.path);
    return { kind: "answer", text: `deleted ${input.path}` };
  },
});
