import type { Finding } from "@emend/site";
import type { Added, AddedLine } from "./added-lines.ts";

/**
 * Controls, bidirectional marks, zero-width and tag characters. The two joiners are left out: scripts and emoji need
 * them. Tab, line feed and carriage return are ordinary.
 */
const invisible =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Characters that a reviewer cannot see, where the change brings in more of them than there were. */
export function findInvisible(added: Added, linesOfWords: readonly AddedLine[] = []): readonly Finding[] {
  const findings: Finding[] = [];
  const known = new Map<string, boolean>();
  const isNew = (character: string): boolean => {
    const answer = known.get(character) ?? isMoreThanBefore(added, character);
    known.set(character, answer);
    return answer;
  };
  for (const line of added.lines) findings.push(...findingsIn(line, isNew));
  for (const line of linesOfWords) findings.push(...findingsIn(line, () => true));
  return findings;
}

function findingsIn({ path, line, text }: AddedLine, isNew: (character: string) => boolean): readonly Finding[] {
  const seen = new Set<string>();
  const findings: Finding[] = [];
  for (const match of text.matchAll(invisible)) {
    const [character] = match;
    // A byte order mark at the start of a file is what it is.
    if (character === "\ufeff" && line === 1 && match.index === 0) continue;
    if (seen.has(character) || !isNew(character)) continue;
    seen.add(character);
    const message = `the invisible character ${nameOf(character)} was added`;
    findings.push({ check: "invisible-character", severity: "error", path, line, column: match.index + 1, message });
  }
  return findings;
}

function isMoreThanBefore(added: Added, character: string): boolean {
  const { before, after } = added.count(character);
  return after > before;
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
