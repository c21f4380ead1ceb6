import { Type } from "typebox";
import { reachesOut } from "../../lib/reaches-out.ts";
import { verifySources } from "./sources.ts";
import { defineTool } from "./tool.ts";

const words = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));
const list = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems: 40, description }));

/** The input that the loop reads back from an accepted call. */
export const FinishInput = Type.Object(
  {
    title: words(200),
    summary: words(20_000),
    reply: words(4_000),
    sources: list("path:line"),
    disputes: list("path:line: why"),
  },
  { additionalProperties: false },
);

/** The answer to an accepted call. */
export const handedOver = "handed over";

export const finishTool = defineTool({
  name: "finish",
  description:
    "Hands over. If findings come back: repair or dispute, finish again; what you leave out stays. In a follow-up `reply` is about it, `summary` about the whole pull request. No links or HTML outside code spans.",
  input: FinishInput,
  // In earlier releases `title` was the round's, and the pull request's was separate.
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
    // A hostile page must not get images or links into the pull request.
    if ([title, summary, reply, ...disputes].some(reachesOut)) {
      return { kind: "refused", reason: "the words must hold no images, links, URLs or HTML outside code spans" };
    }
    const problems = sources.length === 0 ? [] : await verifySources(context, sources, signal);
    if (problems.length > 0) return { kind: "refused", reason: `sources: ${problems.join("; ")}` };
    return { kind: "answer", text: handedOver };
  },
});
