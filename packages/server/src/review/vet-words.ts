import { redactSecrets, UnsearchableText } from "../secrets/secrets-in.ts";
import type { Tree } from "../tree/tree.ts";
import { judgeContent } from "./judge-content.ts";
import { createPageReader } from "./page-reader.ts";
import type { Policy, ReviewInput } from "./review.ts";

/** The review's eye on what a model says, before a tool is given it and before it is stored: the agent's `Vetting`. */
export function createVetting(
  base: Tree,
  { policy, asked }: { policy: Policy; asked: readonly string[] },
  { knownSecrets = [], pageReader = createPageReader() }: Pick<ReviewInput, "knownSecrets" | "pageReader"> = {},
) {
  return {
    /** Without credentials, but for those that the repository itself holds. */
    redact: (text: string, signal: AbortSignal) =>
      redactSecrets(text, { known: knownSecrets, isKept: (secret) => isHeld(base, secret, signal) }).catch((error) => {
        if (error instanceof UnsearchableText) return "[redacted: text that could not be searched for secrets]";
        throw error;
      }),
    /** `page`: the file as these words would leave it, where that is known: it is judged as the review will. */
    async refuse(
      text: string,
      page: { path: string; text: string } | null,
      signal: AbortSignal,
    ): Promise<string | null> {
      const file = page ?? { path: "words.md", text };
      const lines = page ? [] : [{ path: "the text", line: 1, text }];
      const { violations } = await judgeContent({ base, reader: pageReader, policy, asked }, [file], lines, signal);
      return violations[0]?.rule ?? null;
    },
  };
}

/** To take a leaked credential out of a page, it must be said which. */
async function isHeld(base: Tree, secret: string, signal: AbortSignal): Promise<boolean> {
  const line = secret.split("\n", 1)[0] ?? "";
  if (line.length < 8 || line.length > 1_000) return false;
  const { matches } = await base.search({ pattern: line, kind: "literal", matchesMax: 1 }, signal);
  return matches.length > 0;
}
