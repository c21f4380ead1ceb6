import { renameHeading } from "@emend/site";
import { Type } from "typebox";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const renameHeadingTool = defineTool({
  name: "rename_heading",
  description: "Renames a heading of a page and rewrites every link to its anchor.",
  input: Type.Object(
    { page: Type.String({ minLength: 1 }), from: Type.String({ minLength: 1 }), to: Type.String({ minLength: 1 }) },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, input, signal) {
    return carryOut(context, await renameHeading(await context.site.head(signal), input));
  },
});
