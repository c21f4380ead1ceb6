import type { Finding } from "@emend/site";
import type { Message } from "./agent.ts";
import { describeFinding } from "./tools/check.ts";
import { readPatch } from "./tools/git.ts";

const diffCharactersMax = 24_000;
const fileCharactersMax = 4_000;
const findingsMax = 60;

/** A review's findings, as a message to the agent. */
export function reviewOpening(findings: readonly Finding[]): Message {
  const list = findings.slice(0, findingsMax).map((finding) => `- ${describeFinding(finding)}`);
  const more = findings.length > findingsMax ? [`- and ${findings.length - findingsMax} more`] : [];
  return {
    role: "user",
    from: "review",
    text: [
      "Not handed over yet: the review found this. Repair it and finish again. A finding that you know to be wrong: leave",
      "right work as it is, and give `disputes`: path:line and the reason; a person decides.",
      ...list,
      ...more,
    ].join("\n"),
  };
}

/** The agent's own change, for a self-review. */
export function selfReviewOpening(
  diff: string,
  findings: readonly Finding[],
  contextTokensMax = Number.POSITIVE_INFINITY,
): Message {
  const charactersMax = Math.min(diffCharactersMax, Math.floor(contextTokensMax / 2));
  return {
    role: "user",
    from: "self-review",
    text: [
      "Not handed over yet: this is your change as its reviewer will see it. Does it do all that was asked and nothing else, is",
      "every statement true of what you read, do wording and form fit the pages around it? If so, call finish {}. If not, repair",
      "it and finish again with the words that changed.",
      ...findings.slice(0, findingsMax).map((finding) => `- ${describeFinding(finding)}`),
      `<content>\n${withoutFence(shortPatch(diff, charactersMax))}\n</content>`,
    ].join("\n"),
  };
}

/** The start of every file's patch: in a change to hundreds of pages, the first ones are typical. */
function shortPatch(diff: string, charactersMax: number): string {
  const files = readPatch(diff);
  const shown: string[] = [];
  let characters = 0;
  for (const { patch } of files) {
    const part =
      patch.length > fileCharactersMax ? `${patch.slice(0, fileCharactersMax)}\n… cut here; git diff shows it` : patch;
    characters += part.length;
    if (characters > charactersMax && shown.length > 0) break;
    shown.push(part.slice(0, charactersMax));
  }
  const left = files.slice(shown.length).map(({ paths }) => paths.at(-1) ?? "");
  if (left.length > 0) shown.push(`… and ${left.length} more files: ${left.slice(0, 30).join(", ")}`);
  return shown.join("\n");
}

/** Makes sure that the text cannot close its fence. */
export function withoutFence(text: string): string {
  return text.replaceAll(/<(\/?\s*content)/gi, "‹$1");
}
