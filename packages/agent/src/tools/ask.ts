import { reachesOut, withoutCode } from "@emend/base/markdown.ts";
import { type Static, Type } from "typebox";
import { defineTool } from "./tool.ts";

/** A question to the person who asked for the change. */
export const AskInput = Type.Object(
  {
    question: Type.String({ minLength: 1, maxLength: 500 }),
    options: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 5 })),
  },
  { additionalProperties: false },
);
export type Question = Static<typeof AskInput>;

/** The answer to an accepted call. What the person says follows as a message. */
export const asked = "asked";

/** One that can carry data: with a path or a subdomain. `Node.js` and `auth.md` are none. */
const bareDomain = /(?<![\w./-])(?:(?:[a-z\d-]+\.)+[a-z]{2,}(?::\d+)?[/?#]\S|(?:[a-z\d-]+\.){2,}[a-z]{2,}\b)/i;

export const askTool = defineTool({
  name: "ask",
  description: "Asks the person, who may take hours. Only where the answer changes the result and no file has it.",
  input: AskInput,
  async run({ questionsLeft = 0 }, { question, options = [] }) {
    if (questionsLeft <= 0)
      return { kind: "refused", reason: "no question is left: decide, and say in the summary what you assumed" };
    // It is shown on the pull request if nobody answers, and in chats, which link domains without a scheme.
    if ([question, ...options].some((text) => reachesOut(text) || bareDomain.test(withoutCode(text))))
      return {
        kind: "refused",
        reason: "a question must hold no images, links, URLs, domains or HTML outside code spans",
      };
    return { kind: "answer", text: asked };
  },
});
