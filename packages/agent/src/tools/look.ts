import { Type } from "typebox";
import { defineTool } from "./tool.ts";

export const lookTool = defineTool({
  name: "look",
  description: "Builds the site with your edits and shows you a page as readers see it, wide and narrow. Slow.",
  input: Type.Object(
    { path: Type.String({ minLength: 1, maxLength: 1024, description: "The page's file" }) },
    { additionalProperties: false },
  ),
  async run(context, { path }, signal) {
    const { look, looksLeft = 0, pictures } = context;
    if (!look) return { kind: "refused", reason: "pages of this site cannot be shown; check finds broken links" };
    if (looksLeft <= 0) return { kind: "refused", reason: "no look is left: go on without" };
    const taken = await look(path, signal);
    if (taken.length === 0) {
      return { kind: "refused", reason: `there is no picture of ${path}: build says whether the site builds with it` };
    }
    pictures.push(...taken);
    return { kind: "answer", text: `${taken.map(({ name }) => name).join(", ")}: see below` };
  },
});
