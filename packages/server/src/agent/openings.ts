import type { Finding } from "@emend/site";
import type { Message } from "./agent.ts";
import { describeFinding } from "./tools/check.ts";

const diffCharactersMax = 60_000;

/** A review's findings, given back to the agent. */
export function reviewOpening(findings: readonly Finding[]): Message {
  const list = findings.map((finding) => `- ${describeFinding(finding)}`).join("\n");
  return {
    role: "user",
    from: "review",
    text: `The review of your change found this. Repair it, then call finish again.\n${list}`,
  };
}

/** The agent's own finished change, for one more look. */
export function selfReviewOpening(diff: string): Message {
  const cut = diff.length > diffCharactersMax ? "\n… the rest of the diff is left out" : "";
  return {
    role: "user",
    from: "self-review",
    text: [
      "This is your change as its reviewer will see it. Read it once more as they would: does it do what was asked, all of",
      "it and nothing else; is every statement true of what you read; do wording and form fit the pages around it? Where",
      "something is wrong, repair it. Then call finish again, with a title and summary of the whole change.",
      `<content>\n${withoutFence(diff.slice(0, diffCharactersMax))}${cut}\n</content>`,
    ].join("\n"),
  };
}

/** The text cannot close the fence that holds it. */
export function withoutFence(text: string): string {
  return text.replaceAll(/<(\/?\s*content)/gi, "‹$1");
}
