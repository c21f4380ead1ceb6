import { Type } from "typebox";
import { reachesOut } from "../../lib/reaches-out.ts";
import { verifySources } from "./sources.ts";
import { defineTool } from "./tool.ts";

const words = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));
const list = (maxItems: number, description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems, description }));

/** What the loop reads back from an accepted call. */
export const FinishInput = Type.Object(
  {
    title: words(200, "One line; in a follow-up only to change it"),
    summary: words(20_000, "Of the whole pull request: what changed and why"),
    reply: words(4_000, "In a follow-up: what you did now, briefly"),
    sources: list(40, "Lines that statements about code rest on: @name/path:line"),
    disputes: list(40, "Wrong findings: path:line: why"),
  },
  { additionalProperties: false },
);

/** The answer to an accepted call. */
export const handedOver = "handed over";

export const finishTool = defineTool({
  name: "finish",
  description:
    "Hands the work over. If a review comes back: repair, finish again; what you leave out stays. No links or HTML outside code spans.",
  input: FinishInput,
  // The title was the round's own, and the pull request's another.
  older({ pullRequestTitle, ...input }) {
    if (pullRequestTitle === undefined) return input;
    return { ...input, title: pullRequestTitle, reply: input.title };
  },
  async run(context, { title = "", summary = "", reply = "", sources = [], disputes = [] }, signal) {
    const said = context.handedOver;
    if (/[\r\n]/.test(title)) return { kind: "refused", reason: "the title must be one line" };
    if (title === "" && !said?.title && !context.isFollowUp)
      return { kind: "refused", reason: "give a title and a summary" };
    if (summary === "" && !said?.summary)
      return { kind: "refused", reason: "give a summary of the whole pull request" };
    // Neither images nor links of a pull request may come from a page that talked the model into them.
    if ([title, summary, reply, ...disputes].some(reachesOut)) {
      return { kind: "refused", reason: "the words must hold no images, links, URLs or HTML outside code spans" };
    }
    const problems = sources.length === 0 ? [] : await verifySources(context, sources, signal);
    if (problems.length > 0) return { kind: "refused", reason: `sources: ${problems.join("; ")}` };
    return { kind: "answer", text: handedOver };
  },
});
