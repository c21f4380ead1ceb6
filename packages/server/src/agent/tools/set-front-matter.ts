import { setFrontMatter } from "@emend/site";
import { Type } from "typebox";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const setFrontMatterTool = defineTool({
  name: "set_front_matter",
  description:
    "Sets one top-level field of a page's front matter, or takes it out with null, and leaves the rest of it byte for byte.",
  input: Type.Object(
    {
      page: Type.String({ minLength: 1 }),
      field: Type.String({ minLength: 1 }),
      value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, input, signal) {
    return carryOut(context, await setFrontMatter(await context.site.head(signal), input));
  },
});
