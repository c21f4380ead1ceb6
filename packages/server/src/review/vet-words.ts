import { redactSecrets, UnsearchableText } from "../secrets/secrets-in.ts";
import type { Tree } from "../tree/tree.ts";
import { judgeContent } from "./judge-content.ts";
import { createPageReader } from "./page-reader.ts";
import type { Policy, ReviewInput } from "./review.ts";

/** Implements the agent's `Vetting`: checks a model's output before a tool receives it and before it is stored. */
export function createVetting(
  base: Tree,
  { policy, asked }: { policy: Policy; asked: readonly string[] },
  { knownSecrets = [], pageReader = createPageReader() }: Pick<ReviewInput, "knownSecrets" | "pageReader"> = {},
) {
  return {
    /** Removes credentials, except those that the repository itself contains. */
    redact: (text: string, signal: AbortSignal) =>
      redactSecrets(text, { known: knownSecrets, isKept: (secret) => isHeld(base, secret, signal) }).catch((error) => {
        if (error instanceof UnsearchableText) return "[redacted: text that could not be searched for secrets]";
        throw error;
      }),
    /** `page`: the file after the edit, if known. It is judged as the review will judge it. */
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

/** To remove a leaked credential from a page, the model must be able to name it. */
async function isHeld(base: Tree, secret: string, signal: AbortSignal): Promise<boolean> {
  const line = secret.split("\n", 1)[0] ?? "";
  if (line.length < 8 || line.length > 1_000) return false;
  const { matches } = await base.search({ pattern: line, kind: "literal", matchesMax: 1 }, signal);
  return matches.length > 0;
}
