import { removePage } from "@emend/site";
import { Type } from "typebox";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const removePageTool = defineTool({
  name: "remove_page",
  description:
    "Deletes a page in favour of another one: every link to it leads to the other page, its navigation entry goes, and its address redirects there.",
  input: Type.Object(
    {
      page: Type.String({ minLength: 1 }),
      to: Type.String({ minLength: 1, description: "The page that takes its place" }),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, input, signal) {
    return carryOut(context, await removePage(await context.site.head(signal), input));
  },
});
