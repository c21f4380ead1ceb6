import { addPage } from "@emend/site";
import { Type } from "typebox";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const addPageTool = defineTool({
  name: "add_page",
  description:
    "Adds a page with the given Markdown and, where the site has a navigation, lists it there. Refused where the page exists.",
  input: Type.Object(
    {
      path: Type.String({ minLength: 1, description: "For example guides/webhooks" }),
      title: Type.Optional(Type.String({ minLength: 1 })),
      content: Type.String({ description: "The page's Markdown, without front matter" }),
      group: Type.Optional(Type.String({ minLength: 1, description: "The navigation group to list it in" })),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, input, signal) {
    return carryOut(context, await addPage(await context.site.head(signal), input));
  },
});
