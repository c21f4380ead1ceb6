import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";
import { knownSecretsIn } from "./known-secrets.ts";

const preset = { id: "@secretlint/secretlint-rule-preset-recommend", rule: creator, options: {} };

/** A credential in a text: where, and of what kind. */
export interface FoundSecret {
  start: number;
  end: number;
  /** From 1. */
  line: number;
  kind: string;
}

/**
 * What looks like a credential, is a key of Emend's own, or is one of those that are known, in the order in which it
 * stands. The expressions run on this thread: give it little at a time.
 */
export async function secretsIn(text: string, known: readonly string[] = []): Promise<readonly FoundSecret[]> {
  const { messages } = await lintSource({
    source: { content: text, filePath: "text.md", ext: ".md", contentType: "text" },
    options: { noPhysicFilePath: true, maskSecrets: true, config: { rules: [preset] } },
  });
  const likely = messages.map(({ range, loc, ruleId }) => ({
    start: range[0],
    end: range[1],
    line: loc.start.line,
    kind: ruleId.replace(/^@secretlint\/secretlint-rule-/, ""),
  }));
  return [...likely, ...knownSecretsIn(text, known)].sort((a, b) => a.start - b.start || b.end - a.end);
}

/** The text with each credential's kind in its place. `isKept` lets one stay. */
export async function redactSecrets(
  text: string,
  options: { known?: readonly string[]; isKept?(secret: string): Promise<boolean> } = {},
): Promise<string> {
  let redacted = "";
  let at = 0;
  for (const { start, end, kind } of await secretsIn(text, options.known)) {
    if (start < at || (await options.isKept?.(text.slice(start, end)))) continue;
    redacted += `${text.slice(at, start)}[redacted: ${kind}]`;
    at = end;
  }
  return redacted + text.slice(at);
}
