import { addRedirect } from "@emend/site";
import { Type } from "typebox";
import { carryOut } from "./report.ts";
import { defineTool } from "./tool.ts";

export const addRedirectTool = defineTool({
  name: "add_redirect",
  description: "Adds a redirect from an address that no page has to one that a page has. rename_page adds its own.",
  input: Type.Object(
    { from: Type.String({ minLength: 1 }), to: Type.String({ minLength: 1 }) },
    { additionalProperties: false },
  ),
  writes: true,
  async run(context, input, signal) {
    return carryOut(context, await addRedirect(await context.site.head(signal), input));
  },
});
