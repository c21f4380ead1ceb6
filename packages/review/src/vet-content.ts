import { redactSecrets, UnsearchableText } from "@emend/base/secrets/secrets-in.ts";
import type { OverlayEntry, Tree } from "@emend/tree";
import type { Construct } from "./construct.ts";
import { judgeContent } from "./judge-content.ts";
import { createPageReader } from "./page-reader.ts";
import type { Policy, ReviewInput } from "./review.ts";

/** Implements the agent's `Vetting`: checks a model's output before a tool receives it and before it is stored. */
export function createContentJudge(
  base: Tree,
  { policy, asked }: { policy: Policy; asked: readonly string[] },
  { knownSecrets = [], pageReader = createPageReader() }: Pick<ReviewInput, "knownSecrets" | "pageReader"> = {},
) {
  return {
    /** Removes credentials, those of the repository's own pages, too: no model needs to know them. */
    redact: (text: string) =>
      redactSecrets(text, knownSecrets).catch((error) => {
        if (error instanceof UnsearchableText) return "[redacted: text that could not be searched for secrets]";
        throw error;
      }),
    /** Judged as the review will judge them: what must be taken back, and what a person will be asked about. */
    async judge(
      entries: readonly OverlayEntry[],
      signal: AbortSignal,
    ): Promise<{ refusal: string | null; question: string | null; constructs: readonly Construct[] }> {
      const files = entries.map(({ path, content }) => ({ path, content, text: content?.toString() ?? null }));
      for (const { path, text } of files) {
        const before = (await base.read(path))?.toString() ?? "";
        if (marksIn(text ?? "") > marksIn(before))
          return { refusal: `${path}: ${addsMark}`, question: null, constructs: [] };
      }
      const { violations, constructs } = await judgeContent(
        { base, reader: pageReader, policy, asked },
        files,
        [],
        signal,
      );
      const [first] = violations;
      return { refusal: first ? `${first.path}: ${first.rule}` : null, question: questionOf(constructs), constructs };
    },
    async refuseWords(text: string, signal: AbortSignal): Promise<string | null> {
      const file = { path: "words.md", text };
      const { violations } = await judgeContent({ base, reader: pageReader, policy, asked }, [file], [], signal);
      return violations[0]?.rule ?? null;
    },
  };
}

const shownMax = 3;

function questionOf(constructs: readonly Construct[]): string | null {
  if (constructs.length === 0) return null;
  const shown = constructs
    .slice(0, shownMax)
    .map(({ path, line, text }) => `${text.split("\n", 1)[0]?.slice(0, 80)} (${path}, line ${line})`);
  const more = constructs.length > shownMax ? ` and ${constructs.length - shownMax} more` : "";
  return `A person will be asked whether ${shown.join(", ")}${more} may be published. Plain Markdown needs no question.`;
}

const addsMark =
  "[redacted: …] stands for a credential that you were not shown; leave it where it is, or replace it with edit_file and a regex";

function marksIn(text: string): number {
  return text.match(/\[redacted: [\w-]{1,60}\]/g)?.length ?? 0;
}
