import { Type } from "typebox";
import { defineTool } from "./tool.ts";

/** What the loop reads back from an accepted call. */
export const FinishInput = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200, description: "One line, imperative: the pull request's title" }),
    summary: Type.String({ minLength: 1, maxLength: 20_000, description: "Markdown: what changed and why" }),
  },
  { additionalProperties: false },
);

// A pull request's page loads images by itself and its links carry what is in them: neither may come from a page that
// talked the model into it. Code spans are shown as they are.
const codeSpans = /`[^`\n]*`/g;
const reachesOut = /!\[|<[a-z!/]|(?:https?|ftp|data|javascript):|\/\/\w|\]\(|\]:/i;

export const finishTool = defineTool({
  name: "finish",
  description:
    "Hands the work over and ends it; the last call. Where nothing had to change, the summary says why. The summary holds no images, links, URLs or HTML outside code spans: name pages by their paths.",
  input: FinishInput,
  async run(_context, { title, summary }) {
    if (/[\r\n]/.test(title)) return { kind: "refused", reason: "the title must be one line" };
    if (reachesOut.test(summary.replaceAll(codeSpans, ""))) {
      return { kind: "refused", reason: "the summary must hold no images, links, URLs or HTML outside code spans" };
    }
    return { kind: "answer", text: "handed over" };
  },
});
