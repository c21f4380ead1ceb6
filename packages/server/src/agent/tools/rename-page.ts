import { movePage } from "@emend/site";
import { Type } from "typebox";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const renamePageTool = defineTool({
  name: "rename_page",
  description:
    "Moves or renames a page, or a folder with all its pages: rewrites every link to it, its own relative links and its navigation entry, and adds a redirect from the old address.",
  input: Type.Object(
    {
      from: Type.String({ minLength: 1, description: "The page or folder, for example guides/auth" }),
      to: Type.String({ minLength: 1, description: "Its new place, for example security/authentication" }),
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, { from, to }, signal) {
    return carryOut(context, await movePage(await context.site.head(signal), { from, to }));
  },
});
