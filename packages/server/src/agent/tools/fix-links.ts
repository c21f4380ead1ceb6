import { fixLinks } from "@emend/site";
import { Type } from "typebox";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const fixLinksTool = defineTool({
  name: "fix_links",
  description:
    "Fixes every broken link and anchor whose right target is certain, on the whole site. It lists those that it left alone, and why.",
  input: Type.Object({}, { additionalProperties: false }),
  writes: true,
  async run(context, _input, signal) {
    return carryOut(context, await fixLinks(await context.site.head(signal)));
  },
});
