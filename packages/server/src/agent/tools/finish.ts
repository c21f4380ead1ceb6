import { Type } from "typebox";
import { reachesOut } from "../../lib/reaches-out.ts";
import { verifySources } from "./sources.ts";
import { defineTool } from "./tool.ts";

/** What the loop reads back from an accepted call. */
export const FinishInput = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200, description: "One line, imperative: the pull request's title" }),
    summary: Type.String({ minLength: 1, maxLength: 20_000, description: "Markdown: what changed and why" }),
    pullRequestTitle: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          "Only after a further message, and only where the pull request as a whole is about something else now: its new title",
      }),
    ),
    sources: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
        maxItems: 40,
        description: "The lines that what you wrote is founded on, each as path:line or @name/path:line",
      }),
    ),
  },
  { additionalProperties: false },
);

export const finishTool = defineTool({
  name: "finish",
  description:
    "Hands the work over and ends it; the last call. Where nothing had to change, the summary says why. The summary holds no images, links, URLs or HTML outside code spans: name pages by their paths. Statements about code belong with the lines they come from, in `sources`; each is looked up.",
  input: FinishInput,
  async run(context, { title, summary, pullRequestTitle = "", sources = [] }, signal) {
    if (/[\r\n]/.test(title + pullRequestTitle.trim()))
      return { kind: "refused", reason: "the title must be one line" };
    // Neither images nor links of a pull request may come from a page that talked the model into them.
    if ([summary, title, pullRequestTitle].some(reachesOut)) {
      return {
        kind: "refused",
        reason: "title and summary must hold no images, links, URLs or HTML outside code spans",
      };
    }
    const problems = sources.length === 0 ? [] : await verifySources(context, sources, signal);
    if (problems.length > 0) return { kind: "refused", reason: `sources: ${problems.join("; ")}` };
    return { kind: "answer", text: "handed over" };
  },
});
